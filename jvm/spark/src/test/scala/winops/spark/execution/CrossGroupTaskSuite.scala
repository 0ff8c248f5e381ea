package winops.spark.execution

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{DataType, LongType}

import winops.spark.group.BatchTimes
import winops.spark.plan.{Application, KeepPlan}
import winops.spark.testing.{Arrived, DrivenTask, KeepPlans}
import winops.text.dialect.Dialect
import winops.text.esper.Esper
import winops.text.spl.Spl

class CrossGroupTaskSuite extends AnyFunSuite {
  import CrossGroupTaskSuite._

  test("what a jump of the watermark ends is emitted while the jump goes on") {
    val driven = new DrivenTask(timed("sliding, time(5), partitioned, partitionCount(9999)"))
    driven.batch(0, 100)(rowsOf(0 until 500, at = 100): _*)
    assert(driven.groupsRemembered == 500)
    driven.counted.reset()
    val touched =
      driven.run(Nil, BatchTimes.ofWatermarks(100, 1000000))(_ => driven.counted.valuesTouched)
    assert(touched.size == 500)
    // A group costs a read and a removal; the row comes before the next group is opened.
    assert(touched.head <= 1 && touched.zip(touched.tail).forall { case (a, b) => b - a <= 3 })
    assert(driven.groupsRemembered == 0 && driven.rowsHeld == 0)
    assert(driven.store.values == 0 && driven.records.size == 0)
  }

  test("what a row dismisses is emitted group by group") {
    val driven = new DrivenTask(plan(Spl, "sliding, count(9), partitioned, tupleCount(100)"))
    driven.batchAt(0)(rowsOf(0 until 100, at = 0): _*)
    driven.counted.reset()
    val more = rowsOf(1000 until 1050, at = 0)
    val touched =
      driven.run(more, BatchTimes.ofBatch(1))(_ => driven.counted.valuesTouched)
    assert(touched.size == 100)
    assert(touched.zip(touched.tail).forall { case (a, b) => b - a <= 4 })
    assert(driven.groupsRemembered == 100 && driven.rowsHeld == 100)
  }

  test("a sweep leaves nothing of its groups, and counts them and their rows") {
    val hint = "@Hint('reclaim_group_aged=4')"
    val driven = new DrivenTask(plan(Esper, s"$hint #groupwin(k)#length(5)"))
    driven.batchAt(0)(rowsOf(0 until 300, at = 0) ++ rowsOf(0 until 100, at = 0): _*)
    val before = driven.metric("rowsEvictedSilently")
    val swept = driven.batchAt(10000)(rowsOf(Seq(7000), at = 0): _*)
    assert(swept.map(_.kind) == Seq("insert"))
    assert(driven.metric("rowsEvictedSilently") - before == 400)
    assert(driven.metric("groupsExpired") == 300)
    assert(driven.groupsRemembered == 1 && driven.rowsHeld == 1)
    assert(driven.records.size == 1 && driven.store.all.size == 1)
  }

  test("the last rows of many groups leave memory, and come in the order of their groups") {
    val latest = new LatestRows(width = 2)
    val row = UnsafeProjection.create(Array[DataType](LongType, LongType))
    def add(group: Int, values: Long*): Unit = {
      latest.begin(row(InternalRow(group.toLong, 0L)).copy())
      values.foreach(value => latest.add(row(InternalRow(group.toLong, value))))
      latest.end()
    }
    val groups = 250000
    (0 until groups).foreach(i => add(groups - i, i.toLong))
    (1 to groups by 3).foreach(group => add(group, -1L, -2L))
    val expected = (0 until groups).iterator.flatMap { i =>
      val group = groups - i
      if (group % 3 == 1) Seq(group -> -1L, group -> -2L) else Seq(group -> i.toLong)
    }
    def read(row: UnsafeRow): (Int, Long) = row.getLong(0).toInt -> row.getLong(1)
    assert(latest.rows.map(read).sameElements(expected))
  }
}

private object CrossGroupTaskSuite {
  def plan(dialect: Dialect, policy: String): KeepPlan =
    KeepPlans.plan(KeepPlans.spec(policy, dialect = dialect), Seq(KeepPlans.n))

  def timed(policy: String): KeepPlan = KeepPlans.plan(
    KeepPlans.spec(policy, Some(Application.Arrival), dialect = Spl),
    Seq(KeepPlans.n))

  def rowsOf(groups: Seq[Int], at: Long): Seq[Arrived] =
    groups.map(group => Arrived(group.toLong, Some(at * 1000), group.toLong))
}
