package winops.spark.execution

import scala.util.Random

import org.scalacheck.{Gen, Shrink}
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.sql.winops.internal.WinopsRuntimeException

import winops.spark.group.BatchTimes
import winops.spark.plan.Application
import winops.spark.testing.{Arrived, Cases, Changed, DrivenTask, KeepPlans}
import winops.testing.{Longer, TableTests}
import winops.text.ccl.Ccl
import winops.text.esper.Esper

/** The order of applied rows, and time, across the batches of one task. */
class GroupTaskSuite extends TableTests with ScalaCheckPropertyChecks {
  import KeepPlans._
  import GroupTaskSuite._

  // A smaller seed is not a simpler case, so shrinking is disabled.
  implicit private def noShrink[A]: Shrink[A] = Shrink.shrinkAny

  private val policies = Seq(
    "KEEP ALL",
    "KEEP 3 ROWS",
    "KEEP 5 ROWS SLACK 4",
    "KEEP EVERY 3 ROWS",
    "KEEP 250 MILLISECONDS",
    "KEEP EVERY 1 SECOND")

  testEach(
    "rows that wait for the watermark give the same changes in any batches, and as a table",
    short = 1)(Cases(12), Cases(40)) { cases =>
    forAll(
      Gen.oneOf(policies),
      Gen.option(Gen.choose(1L, 2000L)),
      Gen.choose(1, 400),
      Gen.long,
      minSuccessful(cases.count)) { (policy, idle, count, seed) =>
      val random = new Random(seed)
      val rows = randomRows(random, count)
      val plan = KeepPlans.plan(spec(policy, Some(Application.EventTime), idle), Seq(n))
      val end = rows.flatMap(_.micros).max / 1000 + 10000
      val driven = new DrivenTask(plan)
      val emitted = feed(driven, random, rows, end)
      assert(byGroup(emitted) == byGroup(DrivenTask.table(plan, rows, Some(end))))
      assert(driven.metric("numRowsDroppedByWatermark") == 0)
      assert(driven.metric("rowsInserted") == emitted.count(_.kind == "insert"))
      assert(driven.metric("rowsDeleted") == emitted.count(_.kind == "delete"))
      assert(driven.rowsHeld == driven.metric("rowsInserted") - driven.metric("rowsDeleted"))
    }
  }

  testEach("rows that a reclaimed group held are counted, and so is the group")(
    "#length(3)",
    "#length_batch(3)",
    "#time_batch(700 msec)#length(2)") { windows =>
    val hint = "@Hint('reclaim_group_aged=0.4,reclaim_group_freq=0.1')"
    val grouped = spec(
      s"$hint #groupwin(k)$windows",
      Some(Application.EventTime),
      dialect = winops.text.esper.Esper)
    val driven = new DrivenTask(plan(grouped, Seq(n)))
    val random = new Random(8)
    val rows = (0 until 400).map { i =>
      Arrived(random.nextInt(12).toLong, Some(1000L + i * 50000L), i.toLong)
    }
    feed(driven, random, rows, 30000L)
    val metric = driven.metric(_)
    assert(metric("groupsExpired") > 20)
    assert(metric("rowsEvictedSilently") > 20)
    assert(metric("rowsDeleted") > 0)
    val stillHeld = driven.rowsHeld
    // A batch's rows are held until the next batch deletes them.
    val gone = metric("rowsDeleted") + metric("rowsEvictedSilently") + metric("rowsRefused")
    assert(gone + stillHeld == rows.size)
  }

  testEach("rows behind the end of the input are counted, of one group and of several")(
    Seq(k),
    Nil) { keys =>
    Seq(Some(Application.EventTime), Some(Application.Arrival), None).foreach { application =>
      val tumbling = spec("tumbling, punct()", application, dialect = winops.text.spl.Spl)
      val marked =
        plan(tumbling.copy(punctuation = Some("text")), Seq(n), keys).copy(punctuation =
          Some(text))
      val driven = new DrivenTask(marked)
      def row(n: Long, mark: String = null) = Arrived(n % 2, Some(n * 1000L), n, mark)
      val batches = Seq(
        Seq(row(1), row(2, "window"), row(3)),
        Seq(row(4), row(5, "final"), row(6), row(7), row(8, "window")),
        Seq(row(9, "final"), row(10)),
        Nil)
      batches.zipWithIndex.foreach { case (rows, i) =>
        val clock =
          if (application.isEmpty) BatchTimes.ofBatch(i * 100L)
          else BatchTimes.ofWatermarks(0L, if (i < 3) 0L else 100L)
        driven.run(rows, clock)(_ => ())
      }
      assert(driven.metric("rowsAfterFinal") == 3)
      assert(driven.metric("rowsInserted") == 3)
      assert(driven.metric("rowsDeleted") + driven.rowsHeld == 3)
    }
  }

  testEach(
    "a group that holds nothing and a partition without groups leave no state but a header")(
    Some(Application.EventTime),
    Some(Application.Arrival)) { application =>
    val driven =
      new DrivenTask(plan(spec("KEEP 2000 ROWS", application, idleMillis = Some(500L)), Seq(n)))
    val random = new Random(5)
    feed(driven, random, randomRows(random, 3000), 1000000L)
    assert(driven.store.values == 0)
    assert(driven.partitionSegments.numbers == Set(0L))
    assert(driven.rowsHeld == 0)
    assert(driven.earliestDue == Long.MaxValue)
  }

  test("a row waits until the watermark is past its time, and rows wait in the order of time") {
    val driven = new DrivenTask(plan(spec("KEEP ALL", Some(Application.EventTime))))
    assert(driven.batch(0, 0)(row(1, 20000), row(1, 10000), row(1, 10999)).isEmpty)
    assert(driven.rowsHeld == 3)
    assert(driven.earliestDue == 11)
    assert(driven.batch(0, 10)().isEmpty)
    assert(driven.batch(10, 11)().map(_.row.micros.get) == Seq(10000, 10999))
    assert(driven.batch(11, 20)().isEmpty)
    assert(driven.earliestDue == 21)
    assert(driven.batch(20, 21)(row(1, 20000, n = 7)).map(_.row.n) == Seq(0, 7))
    assert(driven.earliestDue == Long.MaxValue)
  }

  test("a row is late when its time is before the watermark of the batch before") {
    Application.all.foreach { application =>
      val driven = new DrivenTask(plan(spec("KEEP ALL", Some(application))))
      driven.batch(0, 30)(row(1, 30000))
      val emitted =
        driven.batch(30, 50)(row(1, 29999), row(1, 30000), row(2, 29999), row(1, 45000))
      assert(driven.metric("numRowsDroppedByWatermark") == 2)
      assert(emitted.forall(_.row.micros.get >= 30000))
      assert(driven.metric("rowsInserted") == 3)
      assert(driven.groupsRemembered == driven.store.all.size)
    }
  }

  test("a row without a time fails the query, or is dropped and counted, as asked") {
    val rows = Seq(row(1, 1000), Arrived(1, None, 0), Arrived(2, None, 0))
    Application.all.foreach { application =>
      val refused = intercept[WinopsRuntimeException] {
        new DrivenTask(plan(spec("KEEP 2 ROWS", Some(application)))).batch(0, 5)(rows: _*)
      }
      assert(refused.getCondition == "WINOPS_NULL_TIME")
      assert(refused.getMessageParameters.get("column") == "ts")

      val dropping =
        new DrivenTask(plan(spec("KEEP 2 ROWS", Some(application), dropNullTime = true)))
      assert(dropping.batch(0, 5)(rows: _*).size == 1)
      assert(dropping.metric("rowsNullTime") == 2)
      assert(dropping.store.all.size == 1)
    }
  }

  test("without a time column a row arrives at the time of its batch") {
    val driven = new DrivenTask(plan(spec("KEEP 10 MILLISECONDS")))
    assert(
      driven.batchAt(1000)(row(1, 0)).map(c => (c.kind, c.at)) == Seq("insert" -> Some(1000)))
    assert(driven.earliestDue == 1010)
    assert(driven.batchAt(1009)(row(2, 0)).map(_.at) == Seq(Some(1009)))
    val emitted = driven.batchAt(1500)(row(3, 0))
    assert(
      emitted.map(c => (c.kind, c.row.k, c.at.get)).toSet ==
        Set(("insert", 3, 1500), ("delete", 1, 1010), ("delete", 2, 1019)))
    assert(driven.earliestDue == 1510)
  }

  test("a clock that went back moves no group back") {
    val driven = new DrivenTask(plan(spec("KEEP 10 MILLISECONDS")))
    driven.batchAt(1000)(row(1, 0))
    val emitted = driven.batchAt(400)(row(1, 1))
    assert(emitted.map(c => (c.kind, c.at)) == Seq("insert" -> Some(1000)))
    assert(driven.batchAt(1010)().map(_.at) == Seq(Some(1010), Some(1010)))
  }

  test("rows behind their group's order in a later batch are applied, and counted") {
    val driven = new DrivenTask(plan(spec("KEEP ALL"), Seq(n)))
    assert(driven.batchAt(1)(row(1, 0, n = 5), row(1, 0, n = 3)).map(_.row.n) == Seq(3, 5))
    assert(driven.metric("rowsOutOfOrder") == 0)
    val emitted = driven.batchAt(2)(row(1, 0, n = 5), row(1, 0, n = 2), row(1, 0, n = 4))
    assert(emitted.map(_.row.n) == Seq(2, 4, 5))
    assert(driven.metric("rowsOutOfOrder") == 2)
    driven.batchAt(3)(row(2, 0, n = 1), row(1, 0, n = 4))
    assert(driven.metric("rowsOutOfOrder") == 3)
  }

  test("a group over its cap of rows is an error, whether its rows wait or not") {
    val capped = spec("KEEP ALL", Some(Application.EventTime), maxRows = 3)
    val waiting = new DrivenTask(plan(capped))
    waiting.batch(0, 0)(row(1, 1), row(1, 2), row(2, 3), row(1, 3))
    val overWaiting = intercept[WinopsRuntimeException](waiting.batch(0, 0)(row(1, 4)))
    assert(overWaiting.getCondition == "WINOPS_MAX_ROWS")
    assert(overWaiting.getMessageParameters.get("maxRows") == "3")

    val applied = new DrivenTask(plan(spec("KEEP 3 ROWS SLACK 2", maxRows = 3)))
    applied.batchAt(1)(row(1, 0), row(1, 0), row(1, 0))
    assert(
      intercept[WinopsRuntimeException](applied.batchAt(2)(row(1, 0))).getCondition ==
        "WINOPS_MAX_ROWS")
  }

  test("a silence of more periods than the limit is refused if each of them is emitted") {
    val forced =
      spec("#time_batch(1 msec, 'FORCE_UPDATE')", Some(Application.Arrival), dialect = Esper)
    val changing = plan(forced)
    val summing = CrossGroupTaskSuite.summing(changing, changing.spec.mode)
    Seq(summing -> true, changing -> false).foreach { case (plan, emits) =>
      val driven = new DrivenTask(plan)
      driven.run(Seq(row(1, 1)), BatchTimes.ofWatermarks(0, 1000))(_ => ())
      driven.run(Nil, BatchTimes.ofWatermarks(1000, 600000))(_ => ())
      def pass(): Unit = {
        val _ = driven.run(Nil, BatchTimes.ofWatermarks(600000, 1700000))(_ => ())
      }
      if (emits) {
        val refused = intercept[WinopsRuntimeException](pass())
        assert(refused.getCondition == "WINOPS_EMPTY_PERIODS")
        assert(refused.getMessageParameters.get("output") == "agg")
      } else {
        pass()
        // The year 9999.
        val far = 253402300799000L
        driven.run(Nil, BatchTimes.ofWatermarks(1700000, far))(_ => ())
        val changes = driven.batch(far, far + 1000)(row(1, far * 1000))
        assert(changes.map(_.kind) == Seq("insert", "delete"))
      }
    }
  }

  test(
    "a silence in which more rows than the limit leave one of two windows is no error",
    Longer) {
    val limit = 1000000
    val windows = KeepPlans.policyOf(Ccl, Seq("KEEP ALL", "KEEP 2000 SECONDS"))
    val timed = spec("KEEP ALL", Some(Application.Arrival)).copy(policy = windows)
    val driven = new DrivenTask(plan(timed))
    val (batches, ofBatch) = (21, limit / 20)
    (0 until batches).foreach { number =>
      val (first, end) = (number * ofBatch.toLong, (number + 1) * ofBatch.toLong)
      val rows = (first until end).map(millis => row(1, millis * 1000))
      driven.run(rows, BatchTimes.ofWatermarks(first, end))(_ => ())
    }
    val end = batches * ofBatch.toLong
    val left = driven.run(Nil, BatchTimes.ofWatermarks(end, 2 * 2000000L))(_ => ())
    assert(left.size == end)
  }

  test("a group whose time was put off is looked at when it is due, and once") {
    val driven = new DrivenTask(plan(spec("KEEP ALL", idleMillis = Some(100L))))
    driven.batchAt(0)(row(1, 0))
    (1 to 50).foreach(i =>
      assert(driven.batchAt(i * 10L)(row(1, 0)).map(_.kind) == Seq("insert")))
    assert(driven.earliestDue <= 600)
    assert(driven.batchAt(599)().isEmpty)
    assert(driven.earliestDue == 600)
    assert(driven.batchAt(600)().map(c => (c.kind, c.at)).toSet == Set("delete" -> Some(600)))
    assert(driven.metric("groupsExpired") == 1)
  }

  test("rows of unequal length that one object carries are held as they came") {
    val driven = new DrivenTask(plan(spec("KEEP 4 ROWS")))
    val rows = (0 until 600).map(i => Arrived(i % 2L, None, i.toLong, "x" * (i * 7 % 50) + i))
    val emitted = rows
      .grouped(100)
      .zipWithIndex
      .flatMap { case (some, i) =>
        driven.batchAt(i.toLong)(some: _*)
      }
      .toVector
    assert(emitted.filter(_.kind == "insert").map(_.row).sortBy(_.n) == rows)
    assert(emitted.filter(_.kind == "delete").map(_.row).sortBy(_.n) == rows.dropRight(8))
  }
}

private[spark] object GroupTaskSuite {
  def row(k: Long, micros: Long, n: Long = 0): Arrived = Arrived(k, Some(micros), n)

  def byGroup(changes: Seq[Changed]): Map[Long, Seq[Changed]] = changes.groupBy(_.row.k)

  /** Rows with repeated and out-of-order times, and with gaps of up to a few milliseconds. */
  def randomRows(random: Random, count: Int): Seq[Arrived] = {
    val groups = 1 + random.nextInt(6)
    val gap = Seq(1, 700, 20000)(random.nextInt(3))
    var micros = 1000L
    (0 until count).map { i =>
      micros += random.nextInt(gap)
      Arrived(random.nextInt(groups).toLong, Some(micros + random.nextInt(3 * gap)), i.toLong)
    }
  }

  /** Feeds rows in random batches; the watermark advances at random, but never past a future row.
    */
  def feed(driven: DrivenTask, random: Random, rows: Seq[Arrived], end: Long): Seq[Changed] = {
    var rest = rows
    var watermark = 0L
    val emitted = Seq.newBuilder[Changed]
    while (rest.nonEmpty) {
      val (now, later) = rest.splitAt(random.nextInt(rows.size) + 1)
      rest = later
      val before = watermark
      val latest = rest.flatMap(_.micros).map(_ / 1000).minOption.getOrElse(end)
      if (latest > watermark) watermark += random.nextLong(latest - watermark + 1)
      emitted ++= driven.batch(before, watermark)(now: _*)
    }
    emitted ++= driven.batch(watermark, end)()
    emitted.result()
  }
}
