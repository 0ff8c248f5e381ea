package winops.spark.state

import scala.util.{Failure, Random, Success, Try}

import org.json4s.JObject
import org.json4s.jackson.JsonMethods.{compact, parse, render}

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.functions.{lit, struct, to_json}

import winops.spark.testing.{KeepStreamTest, RandomProperties}
import winops.testing.Longer

/** A row of the source; `sec` is its time in seconds since the epoch. */
final case class Sample(
    k: Option[String],
    sec: Long,
    seq: Int,
    n: Option[Int],
    x: Option[Double],
    s: Option[String])

/** Restarts of random queries with columns of other nullability, names, types and order, and with
  * other expressions. NULLs are in the state at every depth. The restarted query gives the rows
  * of a table, or is refused with `WINOPS_POLICY_CHANGED`. Runs five times, or as often as
  * `-Drestarts=` specifies.
  */
class RandomRestartsSuite extends KeepStreamTest with RandomProperties {
  import RandomRestartsSuite._
  import testImplicits._

  (1 to Runs).foreach { run =>
    val tags = Longer.unless(run == 1 || run == 3)
    property(s"a random restart gives the rows of a table, or is refused: run $run", tags: _*) {
      random =>
        // The outputs take turns, so that a few runs have most of them.
        check(random, Outputs((run - 1) % Outputs.size))
    }
  }

  private def check(random: Random, output: Output): Unit = {
    val before = randomQuery(random, output)
    val (now, changes) = changed(random, before)
    val hint = s"$before, and then with ${changes.mkString(", ")}: $now"
    val samples = randomSamples(random)
    val cut = 20 + random.nextInt(20)
    val (early, late) = samples.splitAt(cut)
    withTempDir { checkpoint =>
      val stream = memoryStream[Sample]
      def runOver(query: Query, rows: Seq[Sample]): Seq[Row] = {
        val parts = rows.grouped(1 + random.nextInt(rows.size)).toSeq
        runStart(query, stream, parts, checkpoint.getCanonicalPath)
      }
      withClue(hint) {
        val first = runOver(before, early)
        Try(runOver(now, late :+ Last)) match {
          case Success(second) =>
            val table = rowsOf(now, mixed(before, early, now, late))
            assertRows(first, before, second, now, table)
          case Failure(error) =>
            val conditions = conditionsOf(error)
            assert(conditions.contains("WINOPS_POLICY_CHANGED"), s"$conditions, $error")
            assert(!changes.forall(_.continues(output)), error.getMessage.take(800))
        }
      }
    }
  }

  /** The output of one start of a query, as JSON and without the group of [[Last]]. */
  private def runStart(
      query: Query,
      stream: MemoryStream[Sample],
      batches: Seq[Seq[Sample]],
      checkpoint: String): Seq[Row] = {
    val written = new Written
    val rows = columnsOf(query, stream.toDF()).withWatermark("ts", "0 seconds")
    val running = start(comparable(resultOf(query, rows)), checkpoint, written)
    try {
      batches.foreach { batch =>
        stream.addData(batch)
        running.processAllAvailable()
      }
    } finally running.stop()
    written.rows
  }

  private def rowsOf(query: Query, table: DataFrame): Seq[Row] =
    comparable(resultOf(query, table)).collect().toSeq

  /** The rows of both starts as a table, each with the columns as its start computed them. Rows
    * of the first start have the columns of the second one, with NULL in those that are added.
    */
  private def mixed(
      before: Query,
      early: Seq[Sample],
      now: Query,
      late: Seq[Sample]): DataFrame = {
    val (first, second) = (columnsOf(before, early.toDF()), columnsOf(now, late.toDF()))
    val columns = second.schema.fields.toIndexedSeq.map { column =>
      if (first.columns.contains(column.name)) first(column.name)
      else lit(null).cast(column.dataType).as(column.name)
    }
    first.select(columns: _*).union(second)
  }

  private def columnsOf(query: Query, samples: DataFrame): DataFrame =
    samples.selectExpr(query.columns.map(column => s"${column.sql} AS ${column.name}"): _*)

  private def resultOf(query: Query, rows: DataFrame): DataFrame = {
    val results = query.results.map(result => s"${result.sql(query.output)} AS ${result.name}")
    query.output match {
      case Over =>
        rows.createOrReplaceTempView("input_of_over")
        spark.sql(s"SELECT *, ${results.mkString(", ")} FROM input_of_over")
      case of: OfKeep =>
        val kept = keep(
          rows,
          s"PARTITION BY (k) ORDER BY (seq), ${of.policy}, time => 'ts'" +
            (if (of.hasResults) {
               s", aggregates => TABLE(SELECT ${results.mkString(", ")} FROM input_of_keep)"
             } else "") + s", output => '${of.sqlName}'")
        // As in the calls inserts() and deletes().
        if (of.sqlName == of.name) kept else kept.where(s"_change_type || 's' = '${of.name}'")
    }
  }

  /** One column with all columns as JSON, in the order of their names. */
  private def comparable(result: DataFrame): DataFrame = {
    val columns = result.columns.sorted.map(result(_))
    result
      .filter(!(result("k") <=> lit(Last.k.get)))
      .select(to_json(struct(columns.toIndexedSeq: _*), KeepNulls))
  }

  private def assertRows(
      first: Seq[Row],
      before: Query,
      second: Seq[Row],
      now: Query,
      table: Seq[Row]): Unit = {
    val (given, expected) = (second.map(_.getString(0)), table.map(_.getString(0)))
    val surplus = given.diff(expected)
    assert(surplus.isEmpty, s"\ntoo many: ${surplus.take(3)}\nof a table: ${expected.take(200)}")
    assert(first.size + second.size == table.size)
    val columns = Seq(before, now).map(_.columns.map(_.name).sorted)
    // Rows of the first start have the values of its own expressions.
    if (columns.distinct.size == 1 && before.results.toSet == now.results.toSet) {
      val emitted = (first.map(_.getString(0)) ++ given).map(byNames)
      val missing = expected.map(byNames).diff(emitted)
      assert(missing.isEmpty, s"\nmissing: ${missing.take(3)}")
    }
  }
}

private object RandomRestartsSuite {

  /** The JSON with the fields of each object by name. Rows in an array have the columns in the
    * order of the query that emitted them.
    */
  private def byNames(json: String): String =
    compact(render(parse(json).transform { case JObject(fields) =>
      JObject(fields.sortBy(_._1))
    }))

  val Runs: Int = sys.props.get("restarts").fold(5)(_.toInt)

  private[state] val KeepNulls = {
    val options = new java.util.HashMap[String, String]
    options.put("ignoreNullFields", "false")
    options
  }

  /** The row behind all others, for which the watermark passes them. */
  val Last: Sample = Sample(Some("last"), 1000000, 1000000, None, None, None)

  sealed trait Output

  case object Over extends Output

  final case class OfKeep(name: String, policy: String) extends Output {
    def hasResults: Boolean = name == "agg" || name == "withColumns"
    def sqlName: String = if (name == "inserts" || name == "deletes") "changes" else name
  }

  val Outputs: Seq[Output] = Seq(
    Over,
    OfKeep("changes", "'KEEP 3 ROWS'"),
    OfKeep("withColumns", "'KEEP 3 ROWS'"),
    OfKeep("agg", "'KEEP 3 ROWS'"),
    OfKeep("snapshots", "'KEEP 3 ROWS'"),
    OfKeep("deletes", "'KEEP 2 ROWS'"),
    Over,
    OfKeep("inserts", "'KEEP 3 ROWS'"),
    OfKeep("events", "spl => 'tumbling, count(3)'"),
    OfKeep("withColumns", "esper => '#sort(3, n)'"),
    OfKeep("changes", "esper => '#length(5)#unique(x)'"),
    OfKeep("agg", "'KEEP 40 ROWS'"))

  /** A column of the query, by its SQL over the source, also as a column without NULLs. */
  final case class Column(name: String, nullable: String, dense: String, isDense: Boolean) {
    def sql: String = if (isDense) dense else nullable
  }

  private def column(name: String, nullable: String, dense: String): Column =
    Column(name, nullable, dense, isDense = false)

  private val Columns: Seq[Column] = {
    val (n, s) = ("coalesce(n, -1)", "coalesce(s, '')")
    def pair(n: String, s: String) = s"named_struct('a', $n, 'b', $s)"
    def deep(n: String) = s"named_struct('i', array(map('m', array($n, seq))))"
    Seq(
      column("k", "k", "coalesce(k, '')"),
      column("n", "n", n),
      column("x", "x", "coalesce(x, -1D)"),
      column("pair", s"if(n = 3, NULL, ${pair("n", "s")})", pair(n, s)),
      column("numbers", "array(n, seq)", s"array($n, seq)"),
      column("pairs", "array(named_struct('a', n))", s"array(named_struct('a', $n))"),
      column("names", "map('m', s)", s"map('m', $s)"),
      column("deep", deep("n"), deep(n)))
  }

  private val Fixed =
    Seq(
      column("seq", "seq", "seq"),
      column("ts", "timestamp_seconds(sec)", "timestamp_seconds(sec)"))

  /** Expressions that Spark simplifies without NULLs, each with another one that has its SQL or
    * its columns.
    */
  private val Values: Seq[(String, String)] = Seq(
    "n" -> "n + 1",
    "coalesce(n, -2)" -> "coalesce(n, -3)",
    "coalesce(pair.a, -2)" -> "coalesce(pair.a, -3)",
    "coalesce(pairs.a[0], -2)" -> "coalesce(pairs.a[0], -3)",
    "coalesce(names['m'], 'none')" -> "coalesce(names['m'], 'nothing')",
    "coalesce(deep.i[0]['m'][0], -2)" -> "coalesce(deep.i[0]['m'][1], -2)",
    "if(x IS NULL, -2D, x)" -> "if(x IS NULL, x, -2D)",
    "aggregate(numbers, 0, (a, v) -> a - coalesce(v, 7))" ->
      "aggregate(numbers, 0, (a, v) -> coalesce(v, 7) - a)",
    "transform(pairs, p -> coalesce(p.a, -2))[0]" -> "transform(pairs, p -> coalesce(p.a, -4))[0]",
    "transform(deep.i, d -> d['m'][0])" -> "transform(deep.i, d -> d['m'][1])",
    """from_json('{"a":' || seq || ',"b":1}', 'a INT, b INT')""" ->
      """from_json('{"a":' || seq || ',"b":1}', 'b INT, a INT')""",
    "zip_with(numbers, numbers, (a, b) -> a - b * 2)" ->
      "zip_with(numbers, numbers, (a, b) -> b - a * 2)")

  private val Functions = Seq("count(%s)", "collect_list(%s)", "last(%s)", "max(%s)")
  private val Frames = Seq("", "ROWS 2 PRECEDING", "ROWS 5 PRECEDING")

  /** A computed column. */
  final case class Result(name: String, value: String, function: String, frame: String) {
    def sql(output: Output): String = output match {
      case Over => s"${function.format(value)} OVER (PARTITION BY k ORDER BY ts, seq $frame)"
      case _ => function.format(value)
    }
  }

  final case class Query(output: Output, columns: Seq[Column], results: Seq[Result])

  /** A change of a query. */
  final case class Change(name: String, continues: Output => Boolean) {
    override def toString: String = name
  }

  private def randomResult(random: Random, name: String, output: Output): Result = {
    val (value, _) = Values(random.nextInt(Values.size))
    val functions = if (output == Over) Functions :+ "lag(%s, 2)" else Functions
    val function = functions(random.nextInt(functions.size))
    val frame =
      if (function.startsWith("lag")) "" else Frames(random.nextInt(Frames.size))
    Result(name, value, function, frame)
  }

  def randomQuery(random: Random, output: Output): Query = Query(
    output,
    random.shuffle(Columns ++ Fixed),
    Seq.tabulate(3 + random.nextInt(4))(i => randomResult(random, s"r$i", output)))

  /** A query with random changes, and these. */
  def changed(random: Random, query: Query): (Query, Seq[Change]) = {
    val isOver = query.output == Over
    def maybe(percent: Int): Boolean = random.nextInt(100) < percent
    var now = query
    var changes = Seq.empty[Change]
    def change(percent: Int, name: String, continues: Output => Boolean)(
        made: Query => Query): Unit = if (maybe(percent)) {
      val other = made(now)
      if (other != now) {
        now = other
        changes :+= Change(name, continues)
      }
    }
    val never = (_: Output) => false
    change(85, "another nullability", _ => true) { q =>
      q.copy(columns = q.columns.map(c => c.copy(isDense = maybe(60))))
    }
    change(40, "results in another order", _ == Over) { q =>
      q.copy(results = random.shuffle(q.results))
    }
    change(8, "columns in another order", never)(q => q.copy(columns = random.shuffle(q.columns)))
    change(6, "a column of another type", never) { q =>
      q.copy(columns = q.columns.map { c =>
        if (c.name == "x") c.copy(nullable = s"CAST(x AS FLOAT)", dense = "CAST(0 AS FLOAT)")
        else c
      })
    }
    change(6, "a further column", never) { q =>
      q.copy(columns = q.columns :+ column("more", "s", "coalesce(s, '')"))
    }
    change(20, "another expression", never) { q =>
      val which = random.nextInt(q.results.size)
      val result = q.results(which)
      val other = Values.collectFirst { case (one, other) if one == result.value => other }
      q.copy(results = q.results.updated(which, result.copy(value = other.getOrElse("n"))))
    }
    if (isOver) change(15, "a further function", never) { q =>
      q.copy(results = q.results :+ randomResult(random, "more_results", q.output))
    }
    (now, changes)
  }

  def randomSamples(random: Random): Seq[Sample] = Seq.tabulate(60) { i =>
    def optional[A](value: => A): Option[A] = Option.when(random.nextInt(3) > 0)(value)
    Sample(
      optional(s"k${random.nextInt(2)}"),
      i / 3,
      i,
      optional(random.nextInt(5)),
      optional(random.nextInt(5) * 0.5),
      optional(s"s${random.nextInt(4)}"))
  }
}
