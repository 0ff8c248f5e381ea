package winops.spark.execution

import scala.util.Random

import org.scalacheck.{Gen, Shrink}
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.sql.winops.internal.WinopsRuntimeException

import winops.spark.group.BatchTimes
import winops.spark.plan.{Application, KeepPlan, KeepSpec}
import winops.spark.restart.Outcome
import winops.spark.state.{HistoryTimes, StateIdentity}
import winops.spark.testing.{Arrived, Cases, Changed, DrivenTask, KeepPlans}
import winops.storage.btree.PageMemory
import winops.terms.RowExpression
import winops.testing.TableTests
import winops.text.ccl.Ccl
import winops.text.esper.Esper

/** Windows over rows with the primary key `n`, whose `text` says what a row does. */
class KeyedTaskSuite extends TableTests with ScalaCheckPropertyChecks {
  import GroupTaskSuite.{byGroup, feed}
  import KeyedTaskSuite._

  // A smaller seed is not a simpler case, so shrinking is disabled.
  implicit private def noShrink[A]: Shrink[A] = Shrink.shrinkAny

  testEach(
    "operations: the same changes in any batches, and as a table, and each row is counted",
    short = 1)(Cases(60), Cases(200)) { cases =>
    forAll(Gen.oneOf(policies), counts, Gen.long, minSuccessful(cases.count)) {
      (policy, count, seed) =>
        val random = new Random(seed)
        val rows = operations(random, count)
        val end = rows.flatMap(_.micros).max / 1000 + 10000
        val emitsUpdates = random.nextBoolean()
        val buffer = bufferOf(policy, random)
        val plan = planOf(
          policy,
          spec => buffered(spec, buffer).copy(emitsReasons = true, emitsUpdates = emitsUpdates))
        val driven = new DrivenTask(plan, pageBytes = boundOfPages(random))
        val emitted = feed(driven, random, rows, end)
        assert(byGroup(emitted) == byGroup(DrivenTask.table(plan, rows, Some(end))))
        assert(driven.rowsAccountedFor() == count)
        val inWindows = driven.metric("rowsInserted") + driven.metric("rowsReturned") -
          driven.metric("rowsDeleted")
        if (buffer == 0L) assert(inWindows == driven.rowsHeld)
        else assert(inWindows <= driven.rowsHeld)
        byGroup(emitted).values.foreach { changes =>
          assert(changes.map(_.sequence) == changes.indices.map(_.toLong))
        }
    }
  }

  testEach("rows without effect are emitted once, and then no row vanishes", short = 1)(
    Cases(45),
    Cases(150)) { cases =>
    forAll(Gen.oneOf(policies), counts, Gen.long, minSuccessful(cases.count)) {
      (policy, count, seed) =>
        val random = new Random(seed)
        val rows = operations(random, count).map { row =>
          random.nextInt(12) match {
            case 0 => row.copy(text = "something else")
            case 1 => row.copy(micros = None)
            case _ => row
          }
        }
        val end = rows.flatMap(_.micros).maxOption.getOrElse(1000L) / 1000 + 10000
        val limit = if (random.nextBoolean()) 5L else 1000000L
        val buffer = bufferOf(policy, random)
        val plan = planOf(
          policy,
          spec =>
            buffered(spec, buffer)
              .copy(emitsRefused = true, dropNullTime = true, maxRows = limit),
          application = Some(Application.all(random.nextInt(2))))
        val driven = new DrivenTask(plan, pageBytes = boundOfPages(random))
        val emitted = feedLate(driven, random, rows, end)
        val (without, changes) = emitted.partition(one => Set("late", "refused")(one.kind))
        val effects = Seq("rowsInserted", "rowsUpdated", "rowsRemoved").map(driven.metric)
        assert(effects.sum + without.size == count)
        assert(driven.rowsAccountedFor() == count)
        assert(without.count(_.kind == "late") == driven.metric("numRowsDroppedByWatermark"))
        assert(without.count(_.reason == "time missing") == driven.metric("rowsNullTime"))
        assert(without.forall(one => (one.kind == "late") == (one.reason == "late")))
        assert(without.forall(one => one.sequence == 0 && one.step == 0))
        without.foreach { one =>
          assert((one.reason == "time missing") == one.row.micros.isEmpty)
          if (one.row.text == "something else") assert(NoOperation(one.reason), one)
          else if (one.reason == "not held") assert(Removing(one.row.text.toLowerCase), one)
          else if (one.reason == "key held") assert(Inserting(one.row.text.toLowerCase), one)
        }
        assert(changes.map(_.reason).toSet.subsetOf(Reasons))
    }
  }

  testEach("the changes rebuild the contents of the window", short = 1)(Cases(45), Cases(150)) {
    cases =>
      forAll(Gen.oneOf(policies), Gen.choose(1, 300), Gen.long, minSuccessful(cases.count)) {
        (policy, count, seed) =>
          val random = new Random(seed)
          val rows = operations(random, count)
          val end = Some(rows.flatMap(_.micros).max / 1000)
          val buffer = bufferOf(policy, random)
          val plan = planOf(policy, buffered(_, buffer))
          val held = byGroup(DrivenTask.table(plan, rows, end)).values.flatMap { changes =>
            changes.foldLeft(Vector.empty[Arrived]) { (held, change) =>
              if (change.kind == "insert") held :+ change.row
              else {
                assert(held.contains(change.row), s"${change.row} left without being there")
                held.diff(Seq(change.row))
              }
            }
          }
          val content = DrivenTask.content(plan, rows, end)
          assert(held.map(_.toString).toSeq.sorted == content.map(_.toString).sorted)
      }
  }

  testEach("a group that is forgotten leaves nothing in the store", short = 1)(
    Cases(20),
    Cases(60)) { cases =>
    forAll(Gen.oneOf(policies), counts, Gen.long, minSuccessful(cases.count)) {
      (policy, count, seed) =>
        val random = new Random(seed)
        val rows = operations(random, count)
        val buffer = bufferOf(policy, random)
        val plan = planOf(policy, buffered(_, buffer).copy(idleMillis = Some(20000L)))
        val driven = new DrivenTask(plan, pageBytes = boundOfPages(random))
        feed(driven, random, rows, rows.flatMap(_.micros).max / 1000 + 100000)
        assert(driven.rowsHeld == 0)
        assert(driven.store.values == 0)
        assert(driven.groupsRemembered == 0)
    }
  }

  test("without emission, rows without a known operation fail the query") {
    val plan = planOf("KEEP ALL", identity[KeepSpec])
    val row = Arrived(1L, Some(1000L), 1L, "something else")
    val error = intercept[WinopsRuntimeException](DrivenTask.table(plan, Seq(row), Some(10L)))
    assert(error.getCondition == "WINOPS_OP_UNKNOWN")
  }

  test("another key, column of the operation or buffer needs history") {
    val plan = planOf("KEEP 3 ROWS", identity[KeepSpec])
    val others = Seq(
      plan.copy(operation = None, spec = plan.spec.copy(operation = None)),
      plan.copy(spec = plan.spec.copy(policy = plan.spec.policy.copy(buffer = 1L))),
      plan.copy(spec = plan.spec.copy(policy = plan.spec.policy.copy(key = Nil))))
    others.foreach { other =>
      val restart = StateIdentity.plan(StateIdentity.of(plan), StateIdentity.of(other))
      assert(restart.outcome == Outcome.NeedsHistory)
    }
  }

  test("the outputs of rows with a key may change at a restart") {
    val plan = planOf("KEEP 3 ROWS", identity[KeepSpec])
    val other = plan.copy(spec =
      plan.spec.copy(emitsUpdates = true, emitsRowIds = true, emitsRefused = true))
    assert(StateIdentity.plan(StateIdentity.of(plan), StateIdentity.of(other)).differences == Nil)
    val unique = KeepPlans.spec("#unique(text)", dialect = Esper)
    val numbered = unique.copy(emitsRowIds = true)
    val plans = Seq(unique, numbered).map(one => StateIdentity.of(KeepPlans.plan(one)))
    assert(StateIdentity.plan(plans.head, plans.last).differences.nonEmpty)
  }

  test("a row that replaces another one needs no room") {
    val plan =
      planOf("#unique(ts)", _.copy(emitsRefused = true, maxRows = 2L), Some(Application.Arrival))
    val times = Seq(1000L, 2000L, 2000L, 3000L)
    val rows = times.zipWithIndex.map { case (ts, i) => Arrived(1L, Some(ts), i + 1L, "insert") }
    val changes = DrivenTask.table(plan, rows, Some(10L))
    assert(
      changes.map(one => (one.kind, one.row.n, one.reason)) == Seq(
        ("insert", 1L, "arrived"),
        ("insert", 2L, "arrived"),
        ("insert", 3L, "arrived"),
        ("delete", 2L, "replaced"),
        ("refused", 4L, "max rows")))
  }

  test("rows without effect are emitted beside a table before the stream, which is silent") {
    val plan = planOf("KEEP ALL", _.copy(emitsRefused = true, dropNullTime = true))
    val held = Arrived(1L, Some(1000L), 1L, "insert")
    val without = held.copy(n = 2L, micros = None)
    val times = BatchTimes
      .ofWatermarks(0L, 0L)
      .copy(history = Some(HistoryTimes(1L, isSilent = true, isRead = true)))
    val changes = new DrivenTask(plan).batchAfter(Seq(held), times)(without)
    assert(
      changes.map(one => (one.kind, one.row.n, one.reason)) ==
        Seq(("refused", 2L, "time missing")))
  }

  private val lengths = Seq(
    ("KEEP 3 ROWS", "KEEP 2 ROWS", Seq(2L)),
    ("KEEP 2 ROWS", "KEEP 3 ROWS", Nil),
    ("KEEP ALL", "KEEP 2 ROWS", Seq(2L)),
    ("#length(3)", "#length(1)", Seq(2L, 3L)),
    ("KEEP 2 SECONDS", "KEEP 1 SECOND", Seq(2L, 3L, 4L)))

  lengths.foreach { case (before, now, leaving) =>
    test(s"rows with a key stay when $before becomes $now") {
      def plan(text: String) = planOf(text, identity[KeepSpec], Some(Application.Arrival))
      val (former, other) = (plan(before), plan(now))
      val restart = StateIdentity.plan(StateIdentity.of(former), StateIdentity.of(other))
      assert(restart.outcome == Outcome.Continues)
      def row(n: Long, millis: Long, operation: String) =
        Arrived(1L, Some(millis * 1000), n, operation)
      val driven = new DrivenTask(former)
      driven.batch(0L, 1L)(
        row(1L, 1L, "insert"),
        row(2L, 2L, "insert"),
        row(3L, 3L, "insert"),
        row(3L, 4L, "update"),
        row(1L, 5L, "delete"))
      val changes = driven.restarted(other).batch(1L, 1100L)(row(4L, 6L, "insert"))
      assert(changes.filter(_.kind == "delete").map(_.row.n) == leaving)
    }
  }

  test("rows behind a window return when a restart makes it longer") {
    def plan(text: String) =
      planOf(text, spec => buffered(spec, 2L).copy(emitsReasons = true))
    val (former, other) = (plan("KEEP 2 ROWS"), plan("KEEP 4 ROWS"))
    val restart = StateIdentity.plan(StateIdentity.of(former), StateIdentity.of(other))
    assert(restart.outcome == Outcome.Continues)
    def row(n: Long) = Arrived(1L, Some(n * 1000), n, "insert")
    val driven = new DrivenTask(former)
    driven.batch(0L, 5L)((1L to 4L).map(row): _*)
    val changes = driven.restarted(other).batch(5L, 6L)(row(5L))
    assert(
      changes.map(one => (one.kind, one.row.n, one.reason)) ==
        Seq(("insert", 5L, "arrived"), ("insert", 2L, "returned")))
  }

  test("an update keeps its place and its age") {
    val plan = planOf("KEEP 1 SECOND", identity[KeepSpec], Some(Application.Arrival))
    val rows = Seq(
      Arrived(1L, Some(0L), 7L, "insert"),
      Arrived(1L, Some(500000L), 8L, "c"),
      Arrived(1L, Some(900000L), 7L, "U"))
    val changes = DrivenTask.table(plan, rows, Some(1400L))
    assert(
      changes.map(one => (one.kind, one.at.get, one.row.n, one.row.micros.get)) == Seq(
        ("insert", 0L, 7L, 0L),
        ("insert", 500L, 8L, 500000L),
        ("delete", 900L, 7L, 0L),
        ("insert", 900L, 7L, 900000L),
        ("delete", 1000L, 7L, 900000L)))
  }
}

private object KeyedTaskSuite {

  /** A window of so many rows that their keys are in several blocks. */
  private val ManyRows = "KEEP 700 ROWS"

  val policies: Seq[String] = Seq(
    "KEEP ALL",
    "KEEP 3 ROWS",
    "KEEP 4 ROWS SLACK 3",
    "KEEP 90 ROWS",
    ManyRows,
    "KEEP EVERY 5 ROWS",
    "KEEP 300 MILLISECONDS",
    "KEEP EVERY 200 MILLISECONDS",
    "#keepall",
    "#length(6)",
    "#time(250 msec)",
    "#unique(ts)",
    "#sort(5, ts desc, text)",
    "#rank(text, 2, ts)")

  private val words =
    Seq("insert", "C", "u", "update", "upsert", "update_after", "r", "delete", "d")

  private val Reasons =
    Set(
      "arrived",
      "updated",
      "deleted",
      "displaced",
      "expired",
      "replaced",
      "trigger",
      "returned")

  /** The policies into whose windows rows return. */
  private val withBuffer = Set(
    "KEEP 3 ROWS",
    "KEEP 4 ROWS SLACK 3",
    "KEEP 90 ROWS",
    ManyRows,
    "#length(6)",
    "#sort(5, ts desc, text)",
    "#rank(text, 2, ts)")

  /** A number of rows behind the window, or 0. */
  def bufferOf(policy: String, random: Random): Long =
    if (withBuffer(policy) && random.nextInt(3) > 0) {
      1L + random.nextInt(if (policy == ManyRows) 300 else 5)
    } else 0L

  /** A number of rows, of which a group has thousands now and then. */
  private def counts: Gen[Int] = Gen.frequency(14 -> Gen.choose(1, 400), 1 -> Gen.const(Many))
  private val Many = 2500

  def buffered(spec: KeepSpec, rows: Long): KeepSpec =
    spec.copy(policy = spec.policy.copy(buffer = rows))

  private val NoOperation = Set("op unknown", "late", "time missing", "max rows")
  private val Removing = Set("u", "update", "delete", "d")
  private val Inserting = Set("insert", "c")

  private def planOf(
      text: String,
      more: KeepSpec => KeepSpec,
      application: Option[Application] = Some(Application.EventTime)): KeepPlan = {
    val dialect = if (text.startsWith("#")) Esper else Ccl
    val spec = KeepPlans.spec(text, application, dialect = dialect)
    val keyed = spec.copy(
      policy = spec.policy.copy(key = Seq(RowExpression.Column("n")(0))),
      operation = Some("text"))
    KeepPlans.plan(more(keyed)).copy(operation = Some(KeepPlans.text))
  }

  /** Operations on few keys or many, with repeated and out-of-order times. */
  private def operations(random: Random, count: Int): Seq[Arrived] = {
    val gap = Seq(1, 700, 60000)(random.nextInt(3))
    val keys = if (count == Many) 2000 else Seq(2, 10, 500)(random.nextInt(3))
    val groups = if (count == Many) 1 else 3
    var micros = 1000L
    (0 until count).map { _ =>
      micros += random.nextInt(gap)
      Arrived(
        random.nextInt(groups).toLong,
        Some(micros + random.nextInt(3 * gap)),
        random.nextInt(keys).toLong,
        words(random.nextInt(words.size)))
    }
  }

  private def boundOfPages(random: Random): Long =
    Seq(0L, 20000L, PageMemory.DefaultBytes)(random.nextInt(3))

  /** Feeds rows in random batches with a watermark that may pass future rows. */
  private def feedLate(
      driven: DrivenTask,
      random: Random,
      rows: Seq[Arrived],
      end: Long): Seq[Changed] = {
    var rest = rows
    var watermark = 0L
    val emitted = Seq.newBuilder[Changed]
    while (rest.nonEmpty) {
      val (now, later) = rest.splitAt(random.nextInt(rows.size) + 1)
      rest = later
      val before = watermark
      watermark += random.nextLong((end - watermark) / 4 + 1)
      emitted ++= driven.batch(before, watermark)(now: _*)
    }
    emitted ++= driven.batch(watermark, end)()
    emitted.result()
  }
}
