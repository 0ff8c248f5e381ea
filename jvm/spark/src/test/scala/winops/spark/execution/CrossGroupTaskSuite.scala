package winops.spark.execution

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum
import org.apache.spark.sql.types.{DataType, LongType}
import org.apache.spark.sql.winops.internal.WinopsRuntimeException

import winops.spark.analysis.WindowResults
import winops.spark.expressions.WindowAggregate
import winops.spark.group.BatchTimes
import winops.spark.plan.{AggMode, Application, KeepPlan, Output}
import winops.spark.state.{StateIdentity, StoredPartitionState}
import winops.spark.testing.{Arrived, DrivenTask, KeepPlans}
import winops.storage.btree.PageMemory
import winops.testing.{Longer, TableTests}
import winops.text.dialect.Dialect
import winops.text.esper.Esper
import winops.text.spl.Spl

class CrossGroupTaskSuite extends TableTests {
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
    def after(rounds: Int, select: String): (Seq[Double], Long, Long) = {
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
      (results, driven.partitionSegments.bytesHeld, driven.rowsHeld)
    }
    val (sums, few, held) = after(10, "sum(n)")
    val all = (1 to 10).map(round => (0 until 40).map(i => 2.0 * (round * 40 + i)).sum)
    assert(sums == all.scanLeft(0.0)(_ + _).tail)
    val (_, many, heldLater) = after(40, "sum(n)")
    // Eight bytes for each of the 80 rows of 30 rounds.
    // The rows alone have more than 20 bytes each.
    assert(many - few < 30 * 80 * 8, s"$few bytes after 10 rounds, $many after 40")
    // The last round has 80 rows, and of the rounds before a block may have rows of two.
    Seq(held, heldLater).foreach(rows => assert(rows >= 80 && rows < 80 + 64))
    val (counts, _, _) = after(10, "count(distinct n)")
    assert(counts == (1 to 10).map(_ * 40.0))
    // This sum is computed from all rows, so they are stored and count as held.
    val (ofDistinct, _, allRows) = after(10, "sum(distinct n)")
    assert(ofDistinct == sums.map(_ / 2) && allRows == 10 * 80)
  }

  testEach(
    "the number of rows held is right after state that did not count rows of swept groups")(
    "sum(n)" -> 1,
    "sum(distinct n)" -> 66) { case (select, held) =>
    val policy = s"@Hint('reclaim_group_aged=4') select $select from S#groupwin(k)#length(3)"
    val swept = KeepPlans.projected(plan(Esper, policy))
    val driven = new DrivenTask(swept)
    val groups = 0 until 64
    driven.run(rowsOf(groups, 0), BatchTimes.ofBatch(10000))(_ => ())
    driven.run(rowsOf(Seq(64), 0), BatchTimes.ofBatch(20000))(_ => ())
    val stored = new StoredPartitionState(
      driven.partitionSegments,
      StateIdentity.of(swept),
      swept.keys.size,
      20000,
      None,
      Iterator.empty)
    stored.count(0, 1 - stored.rowsHeld, 0)
    stored.save()
    driven.run(rowsOf(Seq(65), 0), BatchTimes.ofBatch(30000))(_ => ())
    assert(driven.rowsHeld >= held && driven.rowsHeld <= held + 1)
    driven.run(rowsOf(Seq(65), 0), BatchTimes.ofBatch(31000))(_ => ())
    assert(driven.rowsHeld >= held + 1)
  }

  test("a silence of more periods than the limit is refused", Longer) {
    val driven =
      new DrivenTask(silent("sliding, count(5), time(1), partitioned, partitionCount(4)", None))
    def row(group: Long, sec: Long) = Arrived(group, Some(sec * 1000000L), group, text = null)
    driven.run(Seq(row(1, 1)), BatchTimes.ofWatermarks(0, 100000))(_ => ())
    driven.run(Nil, BatchTimes.ofWatermarks(100000, 900000000))(_ => ())
    val refused = intercept[WinopsRuntimeException] {
      driven.run(Nil, BatchTimes.ofWatermarks(900000000, 253402300799000L))(_ => ())
    }
    assert(refused.getCondition == "WINOPS_EMPTY_PERIODS")
  }

  test("the mode latest emits the last values of groups that a row or the time ends") {
    val hinted = KeepPlans.spec(
      "@Hint('reclaim_group_aged=4') #groupwin(k)#length(2)",
      Some(Application.Arrival),
      dialect = Esper)
    Seq(
      plan(Spl, "sliding, count(9), partitioned, tupleCount(6)"),
      silent("sliding, count(5), partitioned, partitionCount(4)"),
      punctuated("KEEP 3 ROWS"),
      KeepPlans.plan(hinted, Seq(KeepPlans.n))).foreach { plan =>
      def valuesOf(mode: AggMode): Seq[Map[Long, (Long, Long)]] = {
        val driven =
          new DrivenTask(summing(plan, mode), pageBytes = if (mode == AggMode.All) 0L else 20000L)
        def batch(at: Long, rows: (Int, Int)*): Map[Long, (Long, Long)] = {
          val arrived = rows.map { case (group, sec) =>
            Arrived(group.toLong, Some(sec * 1000000L), group.toLong, text = null)
          }
          val times =
            if (plan.time.isEmpty) BatchTimes.ofBatch(at)
            else BatchTimes.ofWatermarks(at - 1, at)
          // Of several values of a group, the map has the last.
          driven.run(arrived, times)(valueOf).toMap
        }
        Seq(
          batch(100, (1, 1), (2, 1), (1, 2), (3, 2), (2, 3), (4, 3)),
          batch(3000, (5, 4), (6, 4), (7, 30), (8, 60)),
          batch(70000, Seq.fill(8)(9 -> 71): _*),
          batch(71000, (9, 72), (9, 73)),
          batch(99000),
          batch(100000, (5, 100)))
      }
      assert(valuesOf(AggMode.Latest) == valuesOf(AggMode.All), plan.spec.policy.text)
    }
  }

  testEach("idle time that a restart adds or shortens ends groups that were silent for longer")(
    None,
    Some(3600000L)) { before =>
    val policy = "sliding, count(5), partitioned, partitionCount(9999)"
    val driven = new DrivenTask(silent(policy, before))
    driven.batch(0, 1000)(rowsOf(0 until 300, at = 1000): _*)
    driven.batch(1000, 4000)(rowsOf(100 until 200, at = 4000): _*)
    val shorter = driven.restarted(silent(policy, Some(5000L)))
    val first = shorter.batch(4000, 6000)(rowsOf(Seq(0, 150, 999), at = 6000): _*)
    val ended = first.takeWhile(_.kind == "delete")
    assert(ended.map(_.row.n) == (0L until 100L) ++ (200L until 300L))
    assert(first.drop(200).map(_.row.n) == Seq(0L, 150L, 999L))
    assert(shorter.groupsRemembered == 102)
    assert(shorter.batch(6000, 9000)(Nil: _*).size == 2 * 99)
    assert(shorter.batch(9000, 20000)(Nil: _*).size == 5 && shorter.groupsRemembered == 0)
  }

  test("idle time that a restart removes lets groups stay") {
    val policy = "sliding, count(5), partitioned, partitionCount(9999)"
    val driven = new DrivenTask(silent(policy))
    driven.batch(0, 1000)(rowsOf(0 until 300, at = 1000): _*)
    val longer = driven.restarted(silent(policy, None))
    assert(longer.batch(1000, 1000000)(Nil: _*).isEmpty && longer.groupsRemembered == 300)
    assert(longer.earliestDue == Long.MaxValue)
  }

  test("a group whose rows are counted and not stored is an error by name") {
    val driven = new DrivenTask(plan(Spl, "sliding, count(9), partitioned, tupleCount(100)"))
    driven.batchAt(0)(rowsOf(0 until 3, at = 0): _*)
    val _ = driven.store.open(driven.store.all.head)
    driven.store.remove()
    val error = intercept[SparkThrowable](driven.batchAt(1)(rowsOf(0 until 3, at = 0): _*))
    assert(error.getCondition == "WINOPS_STATE_FORMAT")
  }

  test("rows that wait count towards the limit of rows, beside those in the windows") {
    val policy = "sliding, count(9), partitioned, partitionCount(99)"
    val spec = KeepPlans.spec(policy, Some(Application.EventTime), maxRows = 10, dialect = Spl)
    val driven = new DrivenTask(KeepPlans.plan(spec, Seq(KeepPlans.n)))
    driven.batch(0, 200)(rowsOf(0 until 6, at = 100): _*)
    driven.batch(200, 200)(rowsOf(0 until 4, at = 300): _*)
    assert(driven.rowsHeld == 10)
    val error = intercept[SparkThrowable](driven.batch(200, 200)(rowsOf(Seq(0), at = 300): _*))
    assert(error.getCondition == "WINOPS_MAX_ROWS")
  }

  test("the last rows of many groups leave memory, and come in the order of their groups") {
    val memory = new PageMemory(200000L)
    val latest = new LatestRows(width = 2, memory)
    val row = UnsafeProjection.create(Array[DataType](LongType, LongType))
    def add(group: Int, values: Long*): Unit = {
      latest.begin(row(InternalRow(group.toLong, 0L)).copy())
      values.foreach(value => latest.add(row(InternalRow(group.toLong, value))))
      latest.end()
    }
    val groups = 20000
    (0 until groups).foreach(i => add(groups - i, i.toLong))
    (1 to groups by 3).foreach(group => add(group, -1L, -2L))
    val expected = (0 until groups).iterator.flatMap { i =>
      val group = groups - i
      if (group % 3 == 1) Seq(group -> -1L, group -> -2L) else Seq(group -> i.toLong)
    }
    def read(row: UnsafeRow): (Int, Long) = row.getLong(0).toInt -> row.getLong(1)
    assert(memory.timesUnloaded > 0)
    assert(latest.rows.map(read).sameElements(expected))
  }
}

private object CrossGroupTaskSuite {
  def plan(dialect: Dialect, policy: String): KeepPlan =
    KeepPlans.plan(KeepPlans.spec(policy, dialect = dialect), Seq(KeepPlans.n))

  /** A plan that removes groups after five seconds without a row. */
  def silent(policy: String, idleMillis: Option[Long] = Some(5000L)): KeepPlan = KeepPlans.plan(
    KeepPlans.spec(policy, Some(Application.Arrival), idleMillis, dialect = Spl),
    Seq(KeepPlans.n))

  /** A plan with punctuation that removes groups after five seconds without a row. */
  def punctuated(policy: String): KeepPlan = {
    val spec = KeepPlans.spec(policy, Some(Application.Arrival), Some(5000L))
    KeepPlans
      .plan(spec.copy(punctuation = Some("text")), Seq(KeepPlans.n))
      .copy(punctuation = Some(KeepPlans.text))
  }

  /** The plan that emits the sum of the numbers in each group. */
  def summing(plan: KeepPlan, mode: AggMode): KeepPlan = {
    val sum = WindowAggregate(Sum(KeepPlans.n), isDistinct = false, filter = None)
    val column = AttributeReference("sum", sum.dataType)()
    KeepPlans.computing(
      plan.copy(spec = plan.spec.copy(mode = mode)),
      Output.Agg,
      WindowResults(Nil, Seq(sum), Seq(column)))
  }

  /** The group of an output row of [[summing]], with its sequence number and sum. */
  def valueOf(row: InternalRow): (Long, (Long, Long)) =
    row.getLong(0) -> (row.getLong(2) -> (if (row.isNullAt(3)) -1L else row.getLong(3)))

  def rowsOf(groups: Seq[Int], at: Long): Seq[Arrived] =
    groups.map(group => Arrived(group.toLong, Some(at * 1000), group.toLong))
}
