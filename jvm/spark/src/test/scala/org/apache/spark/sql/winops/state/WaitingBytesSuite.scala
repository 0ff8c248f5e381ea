package org.apache.spark.sql.winops.state

import java.io.File

import scala.util.Random

import org.apache.spark.sql.winops.testing.TaskTest

import winops.spark.group.BatchTimes
import winops.spark.plan.{Application, KeepPlan}
import winops.spark.testing.KeepPlans
import winops.testing.{Longer, TableTests}

/** The bytes of rows that wait for the watermark, and of windows by event time.
  *
  * docs/performance.md has the values measured, which are 89 to 100 % of the bounds.
  */
class WaitingBytesSuite extends StateBytesTest with TableTests {
  import WaitingBytesSuite._

  test("rows that are delayed by many micro-batches are written a few times") {
    withStores { (folder, confs) =>
      val plan = planOf("KEEP 100 ROWS", Application.EventTime)
      val sums = costsOf(new StoredState(folder, confs, plan), Delay)
      check(sums, bytes = 145, read = 1100, entries = 1.7)
    }
  }

  test("a release reads few of the rows that are delayed by hundreds of micro-batches", Longer) {
    withStores { (folder, confs) =>
      val plan = planOf("KEEP 100 ROWS", Application.EventTime)
      val state = new StoredState(folder, confs, plan)
      // An hour of micro-batches of ten seconds, as the workload disorder has. The bounds are those
      // of docs/performance.md; to read all rows that wait would be 5,100 bytes. As many
      // micro-batches are measured as a schedule has rows.
      val sums = costsOf(state, 360 * BatchMillis, filling = Seq.fill(90)(4), measured = 48)
      check(sums, bytes = 150, read = 1000, entries = 1.8, rows = Groups * 48)
    }
  }

  testEach("windows by time write the rows that change", short = 1)(
    Application.Arrival -> 90,
    Application.EventTime -> 100) { case (application, bytes) =>
    withStores { (folder, confs) =>
      val plan = planOf(s"KEEP ${100 * BatchMillis / 1000} SECONDS", application)
      val state = new StoredState(new File(folder, application.name), confs, plan)
      check(costsOf(state, delay = 0L), bytes, read = 400, entries = 1.3)
    }
  }
}

private object WaitingBytesSuite {
  private val Groups = 1000
  private val BatchMillis = 10000L

  /** The number of micro-batches by which rows are delayed at most. */
  private val DelayedBatches = 60
  private val Delay = DelayedBatches * BatchMillis
  private val MeasuredBatches = 10
  private val MeasuredRows = Groups * MeasuredBatches

  /** The numbers of micro-batches that come as one, before those that are measured. */
  private val Filling = Seq.fill(13)(10)

  private def check(
      sums: StoredState.Sums,
      bytes: Int,
      read: Int,
      entries: Double,
      rows: Int = MeasuredRows): Unit = {
    TaskTest.check(sums.written <= bytes.toLong * rows, s"bytes: $sums")
    TaskTest.check(sums.read <= read.toLong * rows, s"bytes read: $sums")
    TaskTest.check(sums.entriesWritten <= entries * rows, s"entries: $sums")
  }

  private def planOf(policy: String, application: Application): KeepPlan = KeepPlans.plan(
    KeepPlans.spec(policy, application = Some(application)),
    order = Seq(KeepPlans.n))

  /** The costs of micro-batches with a row for each group on average, after the same with more
    * rows. Each releases the rows that the watermark of the one before has passed, as on a stream
    * that has new rows at each trigger.
    */
  private def costsOf(
      state: StoredState,
      delay: Long,
      filling: Seq[Int] = Filling,
      measured: Int = MeasuredBatches): StoredState.Sums = {
    val rows = new StateBytesSuite.RandomRows(Groups)
    val random = new Random(7)
    var now = Math.max(delay, Delay)
    var late = 0L
    var watermark = 0L
    def run(batches: Int): Unit = {
      val arrived = (0 until Groups * batches).map { i =>
        val at = now + BatchMillis * batches * i / (Groups * batches)
        val delayed = if (delay == 0) 0L else random.nextLong(delay)
        rows.row(random.nextInt(Groups), (at - delayed) * 1000)
      }
      now += BatchMillis * batches
      state.run(arrived, times(late, watermark))
      late = watermark
      watermark = now - delay - 1
    }
    filling.foreach(run)
    (0 until 10).foreach(_ => run(1))
    val before = state.sums
    (0 until measured).foreach(_ => run(1))
    state.sums.since(before)
  }

  private def times(late: Long, now: Long) = BatchTimes.ofWatermarks(
    if (late == 0) 0 else late + StoredState.FirstMillis,
    now + StoredState.FirstMillis)
}
