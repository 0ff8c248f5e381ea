package org.apache.spark.sql.winops.state

import java.io.File

import scala.util.Random

import org.apache.spark.sql.winops.testing.TaskTest

import winops.spark.group.BatchTimes
import winops.spark.plan.{Application, KeepPlan}
import winops.spark.testing.{Arrived, KeepPlans}
import winops.testing.Longer
import winops.text.dialect.Dialect
import winops.text.esper.Esper
import winops.text.spl.Spl

/** The bytes that a micro-batch of groups that depend on each other writes and reads, where rows
  * of new groups end others.
  */
class CrossGroupBytesSuite extends StateBytesTest {
  import CrossGroupBytesSuite._

  Policies.zipWithIndex.foreach { case ((name, policyOf), i) =>
    val tags = Longer.unless(i == 0)
    test(s"$name: a batch costs the same beside 1,000 and beside 20,000 groups", tags: _*) {
      withStores { (folder, confs) =>
        def costs(groups: Int): Costs =
          costsOf(new StoredState(new File(folder, s"$groups"), confs, policyOf(groups)), groups)
        val (few, many) = (costs(1000), costs(20000))
        // Measured: 0.99, 0.68 and 0.75 times as much.
        TaskTest.check(many.written <= 1.5 * few.written, s"written: $few, $many")
        TaskTest.check(many.read <= 1.5 * few.read, s"read: $few, $many")
        // docs/performance.md says 200 to 400 bytes.
        TaskTest.check(many.written <= 500, s"written for a row: $many")
      }
    }
  }
}

private object CrossGroupBytesSuite {

  /** The windows of this number of groups, by what ends groups. */
  private val Policies: Seq[(String, Int => KeepPlan)] = Seq(
    "the number of groups" -> (groups =>
      spl(s"sliding, count(3), count(1), partitioned, partitionCount($groups)")),
    "the number of rows" -> (groups =>
      spl(s"sliding, count(3), count(1), partitioned, tupleCount($groups)")),
    "a sweep" -> (groups => {
      val millis = groups * MillisOfRow
      esper(
        s"@Hint('reclaim_group_aged=${millis / 1000},reclaim_group_freq=1') #groupwin(k)#length(3)")
    }))

  private val Rows = 100
  private val MillisOfRow = 10
  private val SettlingBatches = 5
  private val MeasuredBatches = 10

  /** The bytes written and read for each input row. */
  final case class Costs(written: Double, read: Double)

  private def spl(policy: String): KeepPlan = planOf(policy, Spl)
  private def esper(policy: String): KeepPlan = planOf(policy, Esper)

  private def planOf(policy: String, dialect: Dialect): KeepPlan =
    KeepPlans.plan(
      KeepPlans.spec(policy, Some(Application.Arrival), dialect = dialect),
      order = Seq(KeepPlans.n))

  /** Fills the groups, then measures batches of which half of the rows are of new groups. */
  private def costsOf(state: StoredState, groups: Int): Costs = {
    val random = new Random(groups)
    var last = 0L
    var newest = 0
    def run(keys: Seq[Int]): Unit = {
      val rows = keys.map { key =>
        last += 1
        Arrived(key.toLong, Some(last * MillisOfRow * 1000), last, "a")
      }
      val now = last * MillisOfRow
      state.run(rows, BatchTimes.ofWatermarks(now - 1000, now))
    }
    def add(): Int = {
      newest += 1
      newest
    }
    def runAny(): Unit = run(
      Seq.fill(Rows / 2)(Seq(add(), newest - random.nextInt(groups / 2))).flatten)
    Seq.fill(groups)(add()).grouped(1000).foreach(run)
    (0 until SettlingBatches).foreach(_ => runAny())
    val before = state.sums
    (0 until MeasuredBatches).foreach(_ => runAny())
    val sums = state.sums.since(before)
    val rows = Rows.toDouble * MeasuredBatches
    TaskTest.check(newest > groups + 5 * Rows, s"$newest groups")
    TaskTest.check(state.groups <= groups + Rows, s"${state.groups} groups, not $groups")
    Costs(sums.put / rows, sums.read / rows)
  }
}
