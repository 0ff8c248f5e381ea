package winops.spark.execution

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
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
    val driven = new DrivenTask(silent("sliding, count(5), partitioned, partitionCount(9999)"))
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

  test("rows of swept groups count for ever, but are not stored for ever") {
    val from = "from S#groupwin(k)#length(3)"
    def after(rounds: Int, select: String): (Seq[Double], Long) = {
      val policy = s"@Hint('reclaim_group_aged=4') select $select $from"
      val driven = new DrivenTask(KeepPlans.projected(plan(Esper, policy)))
      val results = (1 to rounds).map { round =>
        val groups = (0 until 40).map(round * 40 + _)
        val rows = groups ++ groups
        // The second half of a round arrives after a restart.
        val times = BatchTimes.ofBatch(round * 10000L)
        driven.run(rowsOf(rows.take(40), 0), times)(_ => ())
        driven
          .run(rowsOf(rows.drop(40), 0), times) { row =>
            row.getLong(row.numFields - 1).toDouble
          }
          .last
      }
      (results, driven.partitionSegments.bytesHeld)
    }
    val (sums, few) = after(10, "sum(n)")
    val all = (1 to 10).map(round => (0 until 40).map(i => 2.0 * (round * 40 + i)).sum)
    assert(sums == all.scanLeft(0.0)(_ + _).tail)
    val (_, many) = after(40, "sum(n)")
    // The rows alone have more than 20 bytes each.
    assert(many - few < 30 * 80 * 8, s"$few bytes after 10 rounds, $many after 40")
    val (counts, _) = after(10, "count(distinct n)")
    assert(counts == (1 to 10).map(_ * 40.0))
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

  /** A plan that removes groups after five seconds without a row. */
  def silent(policy: String): KeepPlan = KeepPlans.plan(
    KeepPlans.spec(policy, Some(Application.Arrival), Some(5000L), dialect = Spl),
    Seq(KeepPlans.n))

  def rowsOf(groups: Seq[Int], at: Long): Seq[Arrived] =
    groups.map(group => Arrived(group.toLong, Some(at * 1000), group.toLong))
}
