package org.apache.spark.sql.winops.state

import java.io.File

import scala.util.Random

import org.apache.spark.sql.winops.testing.TaskTest

import winops.spark.group.BatchTimes
import winops.spark.plan.{Application, KeepPlan}
import winops.spark.testing.KeepPlans

/** The bytes of rows that wait for the watermark, and of windows by event time. */
class WaitingBytesSuite extends StateBytesTest {
  import WaitingBytesSuite._

  test("rows that are delayed by many micro-batches are written a few times") {
    withStores { (folder, confs) =>
      val plan = planOf("KEEP 100 ROWS", Application.EventTime)
      val sums = costsOf(new StoredState(folder, confs, plan), Delay)
      check(sums, bytes = 145, read = 1100, entries = 1.7)
    }
  }

  test("windows by time write the rows that change") {
    withStores { (folder, confs) =>
      Seq(Application.Arrival -> 90, Application.EventTime -> 100).foreach {
        case (application, bytes) =>
          val plan = planOf(s"KEEP ${100 * BatchMillis / 1000} SECONDS", application)
          val state = new StoredState(new File(folder, application.name), confs, plan)
          check(costsOf(state, delay = 0L), bytes, read = 400, entries = 1.3)
      }
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

  private def check(sums: StoredState.Sums, bytes: Int, read: Int, entries: Double): Unit = {
    TaskTest.check(sums.written <= bytes.toLong * MeasuredRows, s"bytes: $sums")
    TaskTest.check(sums.read <= read.toLong * MeasuredRows, s"bytes read: $sums")
    TaskTest.check(sums.entriesWritten <= entries * MeasuredRows, s"entries: $sums")
  }

  private def planOf(policy: String, application: Application): KeepPlan = KeepPlans.plan(
    KeepPlans.spec(policy, application = Some(application)),
    order = Seq(KeepPlans.n))

  /** The costs of micro-batches with a row for each group on average, after the same with more
    * rows. Each releases the rows that the watermark of the one before has passed, as on a stream
    * that has new rows at each trigger.
    */
  private def costsOf(state: StoredState, delay: Long): StoredState.Sums = {
    val rows = new StateBytesSuite.RandomRows(Groups)
    val random = new Random(7)
    var now = Delay
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
    (0 until 13).foreach(_ => run(10))
    (0 until 10).foreach(_ => run(1))
    val before = state.sums
    (0 until MeasuredBatches).foreach(_ => run(1))
    state.sums.since(before)
  }

  private def times(late: Long, now: Long) = BatchTimes.ofWatermarks(
    if (late == 0) 0 else late + StoredState.FirstMillis,
    now + StoredState.FirstMillis)
}
