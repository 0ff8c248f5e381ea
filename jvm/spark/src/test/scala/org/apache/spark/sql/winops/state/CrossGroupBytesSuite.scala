package org.apache.spark.sql.winops.state

import java.io.File

import scala.util.Random

import org.apache.spark.sql.winops.testing.TaskTest

import winops.spark.group.BatchTimes
import winops.spark.plan.{Application, KeepPlan}
import winops.spark.testing.{Arrived, KeepPlans}
import winops.text.esper.Esper
import winops.text.spl.Spl

/** The bytes that a micro-batch of groups that depend on each other writes and reads. */
class CrossGroupBytesSuite extends StateBytesTest {
  import CrossGroupBytesSuite._

  Policies.foreach { policy =>
    test(s"$policy: a batch costs the same beside 1,000 and beside 20,000 groups") {
      withStores { (folder, confs) =>
        def costs(groups: Int): Costs =
          costsOf(new StoredState(new File(folder, s"$groups"), confs, planOf(policy)), groups)
        val (few, many) = (costs(1000), costs(20000))
        TaskTest.check(many.written <= 1.5 * few.written, s"written: $few, $many")
        TaskTest.check(many.read <= 1.5 * few.read, s"read: $few, $many")
        TaskTest.check(many.written <= 300, s"written for a row: $many")
      }
    }
  }
}

private object CrossGroupBytesSuite {
  val Policies: Seq[String] = Seq(
    "sliding, count(3), count(1), partitioned, partitionCount(25000)",
    "sliding, time(3600), count(1), partitioned, tupleCount(999999)",
    "@Hint('reclaim_group_aged=86400') #groupwin(k)#time(3600)")

  private val Rows = 100
  private val SettlingBatches = 5
  private val MeasuredBatches = 10

  /** The bytes written and read for each input row. */
  final case class Costs(written: Double, read: Double)

  private def planOf(policy: String): KeepPlan = {
    val dialect = if (policy.startsWith("sliding")) Spl else Esper
    KeepPlans.plan(
      KeepPlans.spec(policy, Some(Application.Arrival), dialect = dialect),
      order = Seq(KeepPlans.n))
  }

  /** Fills the groups, then measures batches of rows of any group. */
  def costsOf(state: StoredState, groups: Int): Costs = {
    val random = new Random(groups)
    var last = 0L
    def run(keys: Seq[Int]): Unit = {
      val rows = keys.map { key =>
        last += 1
        Arrived(key.toLong, Some(last * 10000), last, "a")
      }
      state.run(rows, BatchTimes.ofWatermarks(last * 10 - 1000, last * 10))
    }
    def runAny(): Unit = run(Seq.fill(Rows)(random.nextInt(groups)))
    (0 until groups).grouped(1000).foreach(run)
    (0 until SettlingBatches).foreach(_ => runAny())
    val before = state.sums
    (0 until MeasuredBatches).foreach(_ => runAny())
    val sums = state.sums.since(before)
    val rows = Rows.toDouble * MeasuredBatches
    Costs(sums.put / rows, sums.read / rows)
  }
}
