package winops.spark.execution

import org.apache.spark.sql.{AnalysisException, DataFrame}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream

import winops.spark.group.BatchTimes
import winops.spark.plan.{Application, KeepPlan}
import winops.spark.testing.{Arrived, Changed, DrivenTask, KeepPlans, KeepStreamTest, Tick}
import winops.testing.TableTests
import winops.text.apama.Apama
import winops.text.ccl.Ccl
import winops.text.dialect.Dialect
import winops.text.esper.Esper
import winops.text.spl.Spl
import winops.window.changes.ChangeReason

/** The reason of each change, for every kind of window. */
class ReasonsSuite extends KeepStreamTest with TableTests {
  import KeepPlans._
  import ReasonsSuite._
  import testImplicits._

  // Rows as the time in tenths of a second and a text, numbered from 1; then the changes as the
  // number of the row with + or -, and the reason of those that follow.
  private val cases: Seq[(String, Dialect, String, String)] = Seq(
    ("KEEP ALL", Ccl, "0a 1a", "arrived +1 +2"),
    ("KEEP 2 ROWS", Ccl, "0a 1a 2a", "arrived +1 +2 +3 displaced -1"),
    ("KEEP 2 ROWS SLACK 2", Ccl, "0a 1a 2a 3a", "arrived +1 +2 +3 +4 displaced -1 -2"),
    // Both are one window: the newest row stays alone.
    ("KEEP 1 ROW SLACK 2", Ccl, "0a 1a 2a", "arrived +1 +2 +3 trigger -1 -2"),
    ("KEEP EVERY 2 ROWS", Ccl, "0a 1a 2a", "arrived +1 +2 +3 trigger -1 -2"),
    ("KEEP 200 MILLISECONDS", Ccl, "0a 1a", "arrived +1 +2 expired -1 -2"),
    ("KEEP EVERY 1 SECOND", Ccl, "1a 2a", "arrived +1 +2 trigger -1 -2"),
    ("#length(2)", Esper, "0a 1a 2a", "arrived +1 +2 +3 displaced -1"),
    ("#lastevent", Esper, "0a 1a", "arrived +1 +2 displaced -1"),
    ("#keepall", Esper, "0a 1a", "arrived +1 +2"),
    ("#time(200 msec)", Esper, "0a 1a", "arrived +1 +2 expired -1 -2"),
    ("#time_accum(200 msec)", Esper, "0a 1a", "arrived +1 +2 silence -1 -2"),
    ("#ext_timed(ts, 200 msec)", Esper, "0a 1a 2a", "arrived +1 +2 +3 expired -1"),
    (
      "#expr(newest_event.n - oldest_event.n < 2)",
      Esper,
      "0a 1a 2a",
      "arrived +1 +2 +3 condition -1"),
    ("#firstlength(1)", Esper, "0a 1a", "arrived +1"),
    ("#firstevent", Esper, "0a 1a", "arrived +1"),
    ("#firsttime(200 msec)", Esper, "0a 1a 2a", "arrived +1 +2"),
    ("#firstunique(text)", Esper, "0a 1a 2b", "arrived +1 +3"),
    ("#unique(text)", Esper, "0a 1b 2a", "arrived +1 +2 +3 replaced -1"),
    ("#sort(1, n)", Esper, "0a 1a", "arrived +1 +2 displaced -2"),
    (
      "#rank(text, 2, n)",
      Esper,
      "0a 1b 2a 3c",
      "arrived +1 +2 +3 replaced -1 arrived +4 displaced -4"),
    ("#time_order(ts, 200 msec)", Esper, "0a", "arrived +1 expired -1"),
    ("#timetolive(ts)", Esper, "1a", "arrived +1 expired -1"),
    ("#length_batch(1)", Esper, "0a 1a", "trigger +1 +2 -1"),
    ("#time_batch(200 msec)", Esper, "0a 3a", "trigger +1 +2 -1 -2"),
    ("#ext_timed_batch(ts, 200 msec)", Esper, "0a 2a 4a", "trigger +1 +2 -1"),
    ("#time_length_batch(1 sec, 1)", Esper, "0a 1a", "trigger +1 +2 -1 -2"),
    ("#expr_batch(newest_event.text = 'b')", Esper, "0a 1b 2b", "trigger +1 +2 +3 -1 -2"),
    (
      "#length(2)#time(300 msec)",
      Esper,
      "0a 1a 2a",
      "arrived +1 +2 +3 displaced -1 expired -2 -3"),
    (
      "#time(200 msec)#unique(text)",
      Esper,
      "0a 1a 2b",
      "arrived +1 +2 replaced -1 arrived +3 expired -2 -3"),
    (
      "#length(1)#time(300 msec) retain-union",
      Esper,
      "0a 1a 5a",
      "arrived +1 +2 expired -1 arrived +3 displaced -2"),
    (
      "#length(3)#length_batch(2) retain-union",
      Esper,
      "0a 1a 2a 3a 4a",
      "arrived +1 +2 +3 +4 trigger -1 arrived +5 displaced -2"),
    ("within 0.2", Apama, "0a 1a", "arrived +1 +2 expired -1 -2"),
    ("within 0.3 every 0.2", Apama, "0a 1a", "trigger +1 +2 expired -1 -2"),
    ("retain 1", Apama, "0a 1a", "arrived +1 +2 displaced -1"),
    ("retain 2 every 2", Apama, "0a 1a 2a 3a", "trigger +1 +2 +3 +4 displaced -1 -2"),
    ("within 0.3 retain 1", Apama, "0a 1a", "arrived +1 +2 displaced -1 expired -2"),
    (
      "within 0.4 every 0.2 retain 2",
      Apama,
      "2a 3a 4a",
      "trigger +1 +2 +3 displaced -1 expired -2 -3"),
    (
      "within 0.5 with unique text",
      Apama,
      "0a 1b 2a",
      "arrived +1 +2 +3 replaced -1 expired -2 -3"),
    (
      "retain 2 with unique text",
      Apama,
      "0a 1b 2b 3c",
      "arrived +1 +2 +3 displaced -1 replaced -2 arrived +4"),
    ("retain all", Apama, "0a 1a", "arrived +1 +2"),
    ("tumbling, count(2)", Spl, "0a 1a", "arrived +1 +2 trigger -1 -2"),
    ("tumbling, time(0.2)", Spl, "0a 1a", "arrived +1 +2 trigger -1 -2"),
    ("tumbling, delta(n, 1)", Spl, "0a 1a 2a", "arrived +1 +2 trigger -1 -2 arrived +3"),
    ("sliding, count(1)", Spl, "0a 1a", "arrived +1 displaced -1 arrived +2"),
    ("sliding, time(0.2)", Spl, "0a 1a", "arrived +1 +2 expired -1 -2"),
    ("sliding, delta(n, 1)", Spl, "0a 1a 2a", "arrived +1 +2 distance -1 arrived +3"),
    (
      "sliding, time(0.2), count(2), partitioned, partitionAge(0.15); param partitionBy : k;",
      Spl,
      "0a 1a 2a",
      "arrived +1 +2 +3 expired -1 -2 group idle -3"),
    (
      "sliding, count(1), partitioned, partitionCount(1); param partitionBy : text;",
      Spl,
      "0a 1a 2b",
      "arrived +1 displaced -1 arrived +2 +3 group limit -2"),
    (
      "sliding, count(1), partitioned, tupleCount(1); param partitionBy : text;",
      Spl,
      "0a 1a 2b",
      "arrived +1 displaced -1 arrived +2 +3 group limit -2"))

  testEach("each kind of window gives its reasons, as a table and as a stream row by row")(
    cases: _*) { case (policy, dialect, rows, expected) =>
    val plan = planOf(dialect, policy)
    if (!plan.spec.isCrossGroup) {
      val table = DrivenTask.table(plan, arrivals(rows), Some(Late))
      assert(inWords(table) == expected, "as a table")
    }
    assert(inWords(streamed(plan, rows)) == expected, "as a stream")
  }

  test("rows leave for the documented reasons, and each of them occurs") {
    val wrong = cases.flatMap { case (policy, dialect, rows, _) =>
      val plan = planOf(dialect, policy)
      val known = plan.spec.policy.reasons.map(ChangeReason.Names).toSet
      val leaving = streamed(plan, rows).filter(_.kind == "delete").map(_.reason).toSet
      Option.when(leaving != known)((policy, leaving, known))
    }
    assert(wrong.isEmpty)
  }

  test("an idle group gives its reason for every row") {
    val plan = planOf(Ccl, "KEEP 2 ROWS", idleMillis = Some(300L))
    assert(
      inWords(DrivenTask.table(plan, arrivals("0a 1a 2a"), Some(Late))) ==
        "arrived +1 +2 +3 displaced -1 group idle -2 -3")
  }

  test("a window punctuation gives its reason") {
    val plain = planOf(Spl, "tumbling, punct()", keys = Nil)
    val plan =
      plain.copy(spec = plain.spec.copy(punctuation = Some("text")), punctuation = Some(text))
    val rows = Seq(
      Arrived(1L, Some(0L), 1L, null),
      Arrived(1L, Some(1L), 2L, null),
      Arrived(1L, Some(2L), 3L, "window"))
    // The text of an ordinary row is NULL, which DrivenTask.changed does not read.
    val changes = new DrivenTask(plan).run(rows, BatchTimes.ofWatermarks(0L, Late)) { row =>
      (row.getString(0), row.getLong(plan.changeColumns.size + 2), row.getString(4))
    }
    assert(
      changes == Seq(
        ("insert", 1L, "arrived"),
        ("insert", 2L, "arrived"),
        ("delete", 1L, "punctuation"),
        ("delete", 2L, "punctuation")))
  }

  testEach("reasons cost no byte of state")(cases: _*) { case (policy, dialect, rows, _) =>
    val plan = planOf(dialect, policy)
    val without = plan.copy(
      spec = plan.spec.copy(emitsReasons = false),
      changeColumns = plan.changeColumns.init)
    def bytes(plan: KeepPlan): Seq[(Int, Long, Long)] = {
      val driven = new DrivenTask(plan)
      ReasonsSuite.run(driven, arrivals(rows).map(Seq(_))) { _ =>
        (driven.store.values, driven.store.bytes, driven.partitionSegments.bytesHeld)
      }
    }
    assert(bytes(plan) == bytes(without))
  }

  test("the cases have every reason") {
    val found = cases.flatMap { case (_, _, _, expected) => reasonsIn(expected) }.toSet
    // CarriedRowsSuite has a restart with another window, KeyedTaskSuite rows with a key.
    val others = Set("punctuation", "window changed", "updated", "deleted", "returned")
    assert(ChangeReason.Names.toSet -- found == others)
  }

  test("SQL gives the reason, also of a window that is divided by its key") {
    val rows = Seq(Tick("a", 1, 1), Tick("b", 2, 2), Tick("a", 3, 3)).toDF()
    def ordered(arguments: String): DataFrame =
      keep(rows, s"WITH SINGLE PARTITION ORDER BY (n), $arguments")
    def reasons(arguments: String): Set[(String, Int, String)] =
      ordered(arguments)
        .select($"_change_type", $"n", $"_change_reason")
        .as[(String, Int, String)]
        .collect()
        .toSet
    val last = ("delete", 1, "replaced")
    val expected =
      Set(("insert", 1, "arrived"), ("insert", 2, "arrived"), ("insert", 3, "arrived"), last)
    assert(reasons("esper => '#unique(k)', reason => true") == expected)
    assert(
      reasons("windows => named_struct('few', '#length(1)', 'all', '#keepall'), " +
        "dialect => 'esper', reason => true") ==
        expected - last ++ Set(("delete", 1, "displaced"), ("delete", 2, "displaced")))
    assert(
      ordered("'KEEP 1 ROW', reason => false").columns.toSeq ==
        ordered("'KEEP 1 ROW'").columns.toSeq)
  }

  testEach("the argument is a boolean, and goes with changes alone")(
    "reason => 1" -> "VALUE",
    "reason => NULL" -> "VALUE",
    "reason => true, output => 'rows'" -> "UNKNOWN") { case (argument, condition) =>
    val rows = Seq(Tick("a", 1, 1)).toDF()
    val error = intercept[AnalysisException](keep(rows, s", 'KEEP 1 ROW', $argument"))
    assert(error.getCondition == s"WINOPS_ARGUMENT.$condition")
  }

  test("a column of the input may have the name of the reason's, if there are no reasons") {
    val taken = Seq(Tick("a", 1, 1)).toDF().withColumnRenamed("k", "_change_reason")
    assert(
      intercept[AnalysisException](keep(taken, ", 'KEEP 1 ROW', reason => true")).getCondition ==
        "WINOPS_COLUMN_CONFLICT")
    assert(keep(taken, ", 'KEEP 1 ROW'").columns.contains("_change_reason"))
  }

  test("reasons are switched on and off at a restart, and are those of a query that has them") {
    val batches = Seq(
      Seq(Tick("a", 1, 1), Tick("b", 1, 2)),
      Seq(Tick("a", 2, 3), Tick("a", 12, 4)),
      Seq(Tick("b", 13, 5), Tick("c", 40, 6)))
    def query(stream: MemoryStream[Tick], reason: Boolean): DataFrame = keep(
      timed(stream),
      "PARTITION BY (k) ORDER BY (n), esper => '#length(2)#time(9 sec)', time => 'ts', " +
        s"idle => '20 seconds', reason => $reason")
    def ofBatches(reasons: Seq[Boolean]): Seq[Seq[(Option[String], Map[String, Any])]] = {
      val stream = ticks()
      var written = Seq.empty[Seq[(Option[String], Map[String, Any])]]
      withTempDir { checkpoint =>
        batches.zip(reasons).foreach { case (batch, reason) =>
          stream.addData(batch)
          val rows = runAll(query(stream, reason), checkpoint.getCanonicalPath).rows.map { row =>
            val values = row.getValuesMap[Any](row.schema.fieldNames.toSeq)
            (values.get("_change_reason").map(_.toString), values - "_change_reason")
          }
          written :+= rows.sortBy(_._2.toString)
        }
      }
      written
    }
    val always = ofBatches(Seq(true, true, true))
    assert(always.flatten.flatMap(_._1).toSet == Set("arrived", "expired"))
    val mixed = ofBatches(Seq(true, false, true))
    assert(mixed.map(_.map(_._2)) == always.map(_.map(_._2)))
    Seq(0, 2).foreach(i => assert(mixed(i) == always(i)))
    assert(mixed(1).forall(_._1.isEmpty))
  }

  private def planOf(
      dialect: Dialect,
      policy: String,
      idleMillis: Option[Long] = None,
      keys: Seq[Attribute] = Seq(k)): KeepPlan = {
    val byText = policy.contains("partitionBy : text")
    val one =
      spec(policy, Some(Application.EventTime), idleMillis = idleMillis, dialect = dialect)
    plan(one.copy(emitsReasons = true), Seq(n), if (byText) Seq(text) else keys)
  }

  private def streamed(plan: KeepPlan, rows: String): Seq[Changed] =
    ReasonsSuite.run(new DrivenTask(plan), arrivals(rows).map(Seq(_)))(identity).flatten
}

private object ReasonsSuite {

  /** The watermark after the last row, in milliseconds. */
  val Late = 60000L

  def arrivals(rows: String): Seq[Arrived] = rows.split(' ').toSeq.zipWithIndex.map {
    case (row, i) => Arrived(1L, Some(row.init.toLong * 100000L), i + 1L, row.last.toString)
  }

  /** Runs these batches, and a last one without rows; `read` receives the changes of each. */
  def run[A](driven: DrivenTask, batches: Seq[Seq[Arrived]])(read: Seq[Changed] => A): Seq[A] = {
    var watermark = 0L
    (batches :+ Nil).map { rows =>
      val before = watermark
      watermark = rows.flatMap(_.micros).map(_ / 1000).maxOption.getOrElse(Late)
      read(driven.batch(before, watermark)(rows: _*))
    }
  }

  /** Names the reason of each change that has another one than the change before. */
  def inWords(changes: Seq[Changed]): String = {
    val reasons = "" +: changes.map(_.reason)
    changes
      .zip(reasons)
      .map { case (change, before) =>
        val sign = if (change.kind == "insert") "+" else "-"
        val reason = if (change.reason == before) "" else s"${change.reason} "
        s"$reason$sign${change.row.n}"
      }
      .mkString(" ")
  }

  def reasonsIn(expected: String): Seq[String] =
    expected.split("[+-]\\d+").toSeq.map(_.trim).filter(_.nonEmpty)
}
