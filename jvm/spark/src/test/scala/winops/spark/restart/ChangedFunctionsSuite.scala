package winops.spark.restart

import java.io.File

import scala.util.{Failure, Random, Success, Try}

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, AggregateFunction}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.functions.{col, lit, struct, to_json}
import org.apache.spark.sql.streaming.StreamingQueryProgress

import winops.withHistory
import winops.spark.aggregates.AggregateProperties
import winops.spark.over.{OverSettings, OverStreamTest, Quote, RandomOver}
import winops.spark.testing.RandomProperties
import winops.testing.Longer

/** Restarts of random window functions with other functions and other input columns. A query that
  * continues, or whose state is rebuilt, gives what a new query gives for the same rows, and so
  * does one that needs history, with a new checkpoint and the former rows as a table. Runs as
  * many times as `-Dchanges=` specifies.
  */
class ChangedFunctionsSuite extends OverStreamTest with RandomProperties {
  import ChangedFunctionsSuite._
  import testImplicits._

  (0 until Runs).foreach { run =>
    val change = Changes(run % Changes.size)
    val tags = Longer.unless(ShortRuns(run))
    property(s"${change.name}: run ${run + 1}", tags: _*) { random =>
      val outcomes = LazyList.continually(check(random, change)).take(MostDraws)
      assert(outcomes.exists(outcome => change.rule.forall(_._2 == outcome)))
    }
  }

  /** Draws two queries, and checks the restart; returns the outcome in its plan. */
  private def check(random: Random, change: FunctionsChange): Outcome = {
    val over = new RandomOver(new Random(random.nextLong()))
    val drawn =
      over.functions(5, follows = true, if (random.nextInt(4) == 0) Seq(StoresAll) else Nil)
    val before = OverQuery(Columns, drawn.distinct.take(4))
    val now = change.make(random, before, drawn.last)
    val rows = over.quotes(if (random.nextInt(4) == 0) 900 else 100)
    val cuts = Seq.fill(3)(1 + random.nextInt(rows.size - 1)).sorted
    val batches = (0 +: cuts :+ rows.size).distinct
      .sliding(2)
      .collect { case Seq(from, until) => rows.slice(from, until) }
      .toSeq
    var outcome: Outcome = Outcome.Continues
    withClue(s"from $before to $now: ") {
      withTempDir { folder =>
        outcome = check(before, now, batches, folder.getCanonicalPath)
        assert(change.outcomes(outcome))
      }
    }
    outcome
  }

  private def check(
      before: OverQuery,
      now: OverQuery,
      batches: Seq[Seq[Quote]],
      folder: String): Outcome = {
    val stream = memoryStream[Quote]
    val checkpoint = s"$folder/checkpoint"
    val first = run(before, inputOf(before, stream), stream, batches.take(1), checkpoint)
    val outcome = planOf(now, stream, checkpoint)
    assert(
      (outcome.severity >= Outcome.NeedsHistory.severity) ==
        StoredReach.needsHistory(before, now, canStore))
    assert((outcome == Outcome.Refused) == StoredReach.changesGroupType(before, now))
    val late = withTimeOf(batches.tail.flatten.toDF()).selectExpr(now.columns: _*)
    Try(run(now, inputOf(now, stream), stream, batches.tail, checkpoint, ends = true)) match {
      case Success(second) =>
        assert(outcome.severity < Outcome.NeedsHistory.severity, "was not refused")
        val table = stored(before, now, withTimeOf(batches.head.toDF())).union(late)
        val emitted = second.map(_.getInt(0)).toSet
        assert(first.map(_.getInt(0)).toSet.intersect(emitted).isEmpty)
        assertAsTable(now, second, table, emitted ++ first.map(_.getInt(0)))
      case Failure(error) =>
        assert(outcome.severity >= Outcome.NeedsHistory.severity, error.getMessage.take(1500))
        assert(conditionsOf(error).contains("WINOPS_POLICY_CHANGED"), error)
        val source = memoryStream[Quote]
        val history = withTimeOf(batches.head.toDF()).selectExpr(now.columns: _*)
        val input = withHistory(inputOf(now, source), history, "all")
        val all = run(now, input, source, batches.tail, s"$folder/with-history", ends = true)
        assertAsTable(now, all, history.union(late), all.map(_.getInt(0)).toSet)
    }
    outcome
  }

  /** Compares rows with those of a table; late rows are in the table, and not among the known. */
  private def assertAsTable(
      query: OverQuery,
      emitted: Seq[Row],
      table: DataFrame,
      known: Set[Int]): Unit = {
    val numbers = emitted.map(_.getInt(0)).toSet
    val all = comparable(query, table.where($"seq".isin(known.toSeq: _*))).collect()
    assertSameRows(emitted, all.toSeq.filter(row => numbers(row.getInt(0))), query.toString)
  }

  /** The most severe outcome for the state of an operator. */
  private def planOf(
      query: OverQuery,
      stream: MemoryStream[Quote],
      checkpoint: String): Outcome = {
    val rows = restartPlanOf(comparable(query, inputOf(query, stream)), checkpoint)
      .filter(_.getAs[String]("subject") == "whole state")
    Outcome.worst(rows.flatMap(row => Outcome.all.find(_.name == row.getAs[String]("outcome"))))
  }

  private def inputOf(query: OverQuery, stream: MemoryStream[Quote]): DataFrame =
    withTimeOf(stream.toDF()).selectExpr(query.columns: _*).withWatermark("ts", "0 seconds")

  private def run(
      query: OverQuery,
      input: DataFrame,
      stream: MemoryStream[Quote],
      batches: Seq[Seq[Quote]],
      checkpoint: String,
      ends: Boolean = false): Seq[Row] = {
    val written = new Written
    val (early, last) = if (ends) batches.splitAt(batches.size - 1) else (batches, Nil)
    val running = start(comparable(query, input), checkpoint, written)
    val progress =
      try {
        running.processAllAvailable()
        early.foreach { batch =>
          stream.addData(batch)
          running.processAllAvailable()
        }
        progressOf(running)
      } finally running.stop()
    assertCounted(progress, checkpoint)
    last.foreach { batch =>
      stream.addData(batch)
      withSQLConf(OverSettings.AtEnd -> "flush") {
        flush(comparable(query, input), checkpoint, written)
      }
    }
    written.rows
  }

  /** Compares the metric after the last micro-batch with the rows that the state has. */
  private def assertCounted(batches: Seq[StreamingQueryProgress], checkpoint: String): Unit =
    batches.filter(_.stateOperators.nonEmpty).lastOption.foreach { last =>
      val counted = last.stateOperators.map(_.customMetrics.get("rowsHeld").longValue).sum
      withTempDir { folder =>
        val moved = new File(folder, "moved")
        val stored = spark
          .sql(s"SELECT sum(rows) FROM winops_repartition('$checkpoint', '$moved', 1)")
          .head()
        assert(counted == stored.getLong(0))
      }
    }

  /** Returns true if the buffer of an aggregate of the columns is stored, instead of rows. */
  private def canStore(call: String): Boolean = {
    withTimeOf(Seq.empty[Quote].toDF()).createOrReplaceTempView(View)
    val functions = spark
      .sql(s"SELECT $call FROM $View")
      .queryExecution
      .analyzed
      .flatMap(_.expressions)
      .flatMap(_.collect { case aggregate: AggregateExpression => aggregate.aggregateFunction })
      .flatMap {
        case replaced: RuntimeReplaceable =>
          replaced.replacement.collect { case function: AggregateFunction => function }
        case function => Seq(function)
      }
    functions.forall(AggregateProperties.of(_).buffer != AggregateProperties.FromRows)
  }

  /** The number of the row, and all columns as JSON. */
  private def comparable(query: OverQuery, rows: DataFrame): DataFrame = {
    rows.createOrReplaceTempView(View)
    val columns = query.functions.zipWithIndex.map { case (function, i) => s"$function AS c$i" }
    val result = spark.sql(s"SELECT *, ${columns.mkString(", ")} FROM $View")
    val sorted = result.columns.sorted.map(result(_))
    result.select(
      $"seq",
      to_json(struct(sorted.toIndexedSeq: _*), ChangedQueriesSuite.JsonOptions))
  }

  private def stored(before: OverQuery, now: OverQuery, early: DataFrame): DataFrame = {
    val rows = early.selectExpr(before.columns: _*)
    val types = early.selectExpr(now.columns: _*).schema
    rows.select(types.fields.toIndexedSeq.map { column =>
      val value = if (rows.columns.contains(column.name)) col(column.name) else lit(null)
      value.cast(column.dataType).as(column.name)
    }: _*)
  }
}

private object ChangedFunctionsSuite {
  import Outcome._

  val Columns: Seq[String] = Seq("k", "ts", "seq", "n", "x", "s", "seq % 7 AS unused")

  /** A function for which all rows are stored with all columns. */
  val StoresAll = "percentile(n + x + length(s) + seq + unix_seconds(ts), 0.5)"

  final case class OverQuery(columns: Seq[String], functions: Seq[String])

  /** The rows before the current one that a window function of [[RandomOver]] needs, and those
    * that are stored for it, by its text.
    */
  final class StoredReach(function: String, canStore: String => Boolean) {
    import StoredReach._

    private val Call(call, order, frame) = function: @unchecked
    private val name = call.takeWhile(_ != '(')
    private val isOffset = name == "lag" || name == "lead"
    private val isRank = Set("rank", "dense_rank", "row_number")(name)
    private val ignoresNulls = call.contains("IGNORE NULLS")
    private val hasPeers =
      !isOffset && !isRank && (frame.isEmpty || frame.startsWith("RANGE"))

    /** The columns from which the function is computed. */
    def columns: Set[String] =
      columnsOf(
        call) ++ (if (hasPeers || isRank && name != "row_number") columnsOf(order) else Nil)

    def needs: Reach =
      if (isOffset) {
        val distance = call.replaceAll("[^0-9]", "").toLong
        if (name == "lead" || distance == 0) Rows(0)
        else if (ignoresNulls) All
        else Rows(distance)
      } else if (isRank || frame.isEmpty) All
      else
        frame match {
          case s"${_}BETWEEN UNBOUNDED PRECEDING AND ${_}" => All
          case s"ROWS BETWEEN $rows PRECEDING AND ${_}" => Rows(rows.toLong)
          case s"RANGE BETWEEN INTERVAL $millis MILLISECONDS PRECEDING AND ${_}" =>
            Millis(millis.toLong)
          case s"RANGE ${_}" => Millis(0)
          case _ => Rows(0)
        }

    def keeps: Reach =
      if (isOffset && ignoresNulls) Rows(0)
      else if (!isOffset && needs == All) {
        // Functions that are no aggregates store a number.
        if (isRank || name == "nth_value" || canStore(call)) Rows(0) else All
      } else needs
  }

  object StoredReach {
    private val Call = """(.*) OVER \(.*?ORDER BY (.*?) ?((?:(?:ROWS|RANGE) .*)?)\)""".r
    private val Group = """PARTITION BY (.*?) ORDER BY""".r
    private val Column = """\b(?:k|ts|seq|n|x|s)\b""".r

    sealed trait Reach
    case object All extends Reach
    final case class Rows(count: Long) extends Reach
    final case class Millis(count: Long) extends Reach

    private def covers(stored: Reach, needed: Reach): Boolean = (stored, needed) match {
      case (All, _) => true
      case (Rows(some), Rows(others)) => some >= others
      case (Millis(some), Millis(others)) => some >= others
      case (Millis(_), others) => others == Rows(0)
      case _ => false
    }

    private def columnsOf(text: String): Set[String] = Column.findAllIn(text).toSet

    private def widensN(query: OverQuery): Boolean =
      query.columns.exists(_.startsWith("CAST(n "))

    /** Returns true if a key of the group is computed from a column of another type. */
    def changesGroupType(before: OverQuery, now: OverQuery): Boolean =
      widensN(now) &&
        Group
          .findFirstMatchIn(before.functions.head)
          .exists(keys => columnsOf(keys.group(1))("n"))

    /** Returns true if a function that is added, or reads a column of another type, needs rows
      * that are not stored, or the order or the group reads such a column.
      */
    def needsHistory(before: OverQuery, now: OverQuery, canStore: String => Boolean): Boolean = {
      val isWidened = widensN(now)
      val stored = before.functions.map(new StoredReach(_, canStore))
      val columns = stored.flatMap(_.columns).toSet
      val keeps = stored.map(_.keeps)
      val readsAltered = isWidened && columnsOf(
        before.functions.head.replaceAll(".* OVER", "").replaceAll("(ROWS|RANGE) .*", ""))("n")
      readsAltered || now.functions.exists { function =>
        val reach = new StoredReach(function, canStore)
        val isNew = !before.functions.contains(function) || isWidened && reach.columns("n")
        isNew && !(reach.columns.subsetOf(columns) && keeps.exists(covers(_, reach.needs)))
      }
    }
  }

  /** A kind of change.
    *
    * @param rule
    *   the rule of `docs/restarts.md` with its outcome, if the page has one for functions alone
    * @param outcomes
    *   the outcomes that the plan of the restart may name
    */
  final case class FunctionsChange(
      name: String,
      outcomes: Set[Outcome],
      make: (Random, OverQuery, String) => OverQuery,
      rule: Option[(String, Outcome)] = None)

  private val MostDraws = 30

  private def changed(name: String, outcomes: Outcome*)(
      make: (Random, OverQuery, String) => OverQuery): FunctionsChange =
    FunctionsChange(name, outcomes.toSet, make)

  /** A change with a rule of its own. Other outcomes come of functions that are there already. */
  private def ofRule(rule: String, outcome: Outcome, others: Outcome*)(
      make: (Random, OverQuery, String) => OverQuery): FunctionsChange =
    FunctionsChange(rule, others.toSet + outcome, make, Some(rule -> outcome))

  private def added(rule: String, outcome: Outcome): FunctionsChange =
    ofRule(rule, outcome, Continues, Rebuilt, NeedsHistory) { (_, query, other) =>
      query.copy(functions = query.functions :+ other)
    }

  private def columns(name: String, outcomes: Outcome*)(
      make: (Random, Seq[String]) => Seq[String]): FunctionsChange =
    changed(name, outcomes: _*) { (random, query, _) =>
      query.copy(columns = make(random, query.columns))
    }

  val Changes: Seq[FunctionsChange] = Seq(
    ofRule("functions with OVER are moved or get other names", Continues) { (random, query, _) =>
      query.copy(functions = random.shuffle(query.functions))
    },
    ofRule("functions with OVER are removed", Rebuilt, Continues) { (random, query, _) =>
      query.copy(functions = random.shuffle(query.functions).drop(1 + random.nextInt(2)))
    },
    added("functions with OVER are added that the stored rows serve", Rebuilt),
    added("other functions with OVER are added: a running total, a longer frame", NeedsHistory),
    columns("a column is added", Rebuilt) { (random, all) =>
      all.patch(random.nextInt(all.size), Seq("seq * 2 AS extra"), 0)
    },
    columns("a column is removed", Rebuilt)((_, all) => all.init),
    columns("columns are moved", Rebuilt, Continues)((random, all) => random.shuffle(all)),
    columns("a column is widened that no function reads", Rebuilt) { (_, all) =>
      all.init :+ "CAST(seq % 7 AS BIGINT) AS unused"
    },
    columns("a column is widened", Rebuilt, NeedsHistory, Refused) { (_, all) =>
      all.map(column => if (column == "n") "CAST(n AS BIGINT) AS n" else column)
    },
    changed("several changes", Rebuilt, NeedsHistory) { (random, query, other) =>
      OverQuery(
        random.shuffle("seq + 1 AS more" +: query.columns.init),
        random.shuffle(other +: query.functions.drop(1)))
    })

  val Runs: Int = Math.max(Changes.size, sys.props.get("changes").fold(0)(_.toInt))

  /** One run for each outcome of a rule, and that of several changes. */
  val ShortRuns: Set[Int] =
    Changes.indices.groupBy(Changes(_).rule.map(_._2)).values.map(_.last).toSet
}
