package winops.spark.restart

import scala.util.{Failure, Random, Success, Try}

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, AggregateFunction}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.functions.{col, lit, struct, to_json}

import winops.spark.aggregates.AggregateProperties
import winops.spark.over.{OverSettings, OverStreamTest, Quote, RandomOver}
import winops.spark.testing.RandomProperties

/** Restarts of random window functions with other functions and other input columns. A query
  * whose state is rebuilt gives what a new query gives for the same rows. Runs as many times as
  * `-Dchanges=` specifies.
  */
class ChangedFunctionsSuite extends OverStreamTest with RandomProperties {
  import ChangedFunctionsSuite._
  import testImplicits._

  (0 until Runs).foreach { run =>
    property(s"changed functions: run ${run + 1}") { random =>
      check(random, Changes(run % Changes.size))
    }
  }

  private def check(random: Random, change: FunctionsChange): Unit = {
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
    withClue(s"${change.name}: from $before to $now: ") {
      withTempDir { folder =>
        val stream = memoryStream[Quote]
        val checkpoint = folder.getCanonicalPath
        val first = run(before, stream, batches.take(1), checkpoint, ends = false)
        val needsHistory = StoredReach.needsHistory(before, now, canStore)
        Try(run(now, stream, batches.drop(1), checkpoint, ends = true)) match {
          case Success(second) =>
            assert(!needsHistory, "was not refused")
            val early = withTimeOf(batches.head.toDF())
            val late = withTimeOf(batches.tail.flatten.toDF())
            val table = stored(before, now, early).union(late.selectExpr(now.columns: _*))
            val emitted = second.map(_.getInt(0)).toSet
            assert(first.map(_.getInt(0)).toSet.intersect(emitted).isEmpty)
            // Late rows are in the table, and not in the stream.
            val known = emitted ++ first.map(_.getInt(0))
            val all = comparable(now, table.where($"seq".isin(known.toSeq: _*))).collect()
            assertSameRows(second, all.toSeq.filter(row => emitted(row.getInt(0))), change.name)
          case Failure(error) =>
            assert(conditionsOf(error).contains("WINOPS_POLICY_CHANGED"), error)
            assert(needsHistory, error.getMessage.take(1500))
        }
      }
    }
  }

  private def run(
      query: OverQuery,
      stream: MemoryStream[Quote],
      batches: Seq[Seq[Quote]],
      checkpoint: String,
      ends: Boolean): Seq[Row] = {
    val written = new Written
    val rows = withTimeOf(stream.toDF()).selectExpr(query.columns: _*)
    val result = comparable(query, rows.withWatermark("ts", "0 seconds"))
    val (early, last) = if (ends) batches.splitAt(batches.size - 1) else (batches, Nil)
    val running = start(result, checkpoint, written)
    try {
      running.processAllAvailable()
      early.foreach { batch =>
        stream.addData(batch)
        running.processAllAvailable()
      }
    } finally running.stop()
    last.foreach { batch =>
      stream.addData(batch)
      withSQLConf(OverSettings.AtEnd -> "flush") {
        flush(comparable(query, rows.withWatermark("ts", "0 seconds")), checkpoint, written)
      }
    }
    written.rows
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
    result.select($"seq", to_json(struct(sorted.toIndexedSeq: _*), ChangedQueriesSuite.KeepNulls))
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
  val Runs: Int = sys.props.get("changes").fold(9)(_.toInt)
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

    /** Returns true if a function that is added, or reads a column of another type, needs rows
      * that are not stored, or the order or the group reads such a column.
      */
    def needsHistory(before: OverQuery, now: OverQuery, canStore: String => Boolean): Boolean = {
      val isWidened = now.columns.exists(_.startsWith("CAST(n "))
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

  /** A kind of change, a row of the tables of `docs/restarts.md`. */
  final case class FunctionsChange(name: String, make: (Random, OverQuery, String) => OverQuery)

  val Changes: Seq[FunctionsChange] = Seq(
    FunctionsChange(
      "functions are moved",
      (random, query, _) => query.copy(functions = random.shuffle(query.functions))),
    FunctionsChange(
      "a function is removed",
      (random, query, _) =>
        query.copy(functions = random.shuffle(query.functions).drop(1 + random.nextInt(2)))),
    FunctionsChange(
      "a function is added",
      (_, query, other) => query.copy(functions = query.functions :+ other)),
    FunctionsChange(
      "a column is added",
      (random, query, _) =>
        query.copy(columns = query.columns.patch(random.nextInt(7), Seq("seq * 2 AS extra"), 0))),
    FunctionsChange(
      "a column is removed",
      (_, query, _) => query.copy(columns = query.columns.init)),
    FunctionsChange(
      "columns are moved",
      (random, query, _) => query.copy(columns = random.shuffle(query.columns))),
    FunctionsChange(
      "a column is widened that no function reads",
      (_, query, _) =>
        query.copy(columns = query.columns.init :+ "CAST(seq % 7 AS BIGINT) AS unused")),
    FunctionsChange(
      "a column is widened",
      (_, query, _) =>
        query.copy(columns =
          query.columns.map(c => if (c == "n") "CAST(n AS BIGINT) AS n" else c))),
    FunctionsChange(
      "several changes",
      (random, query, other) =>
        OverQuery(
          random.shuffle("seq + 1 AS more" +: query.columns.init),
          random.shuffle(other +: query.functions.drop(1)))))
}
