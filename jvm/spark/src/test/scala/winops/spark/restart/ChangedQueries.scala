package winops.spark.restart

import scala.util.Random

import winops.spark.plan.Application
import winops.spark.testing.{RandomWindow, RandomWindows}
import winops.text.ccl.Ccl
import winops.text.esper.Esper

/** A query with `keep` over [[winops.spark.testing.Reading]]s.
  *
  * @param columns
  *   the input columns, as SQL over the columns of the readings
  * @param output
  *   the value of the argument `output`
  * @param functions
  *   the aggregates, if the output has some
  * @param mode
  *   the mode of the output `agg`
  */
final case class KeepQuery(
    window: RandomWindow,
    columns: Seq[String],
    output: String,
    functions: Seq[String],
    mode: String = "all",
    orderBy: String = "n",
    partitionBy: String = "k") {
  def hasAggregates: Boolean = output == "agg" || output == "withColumns"

  /** The names of the input columns. */
  def names: Seq[String] = columns.map(_.split(" ").last)

  /** The SQL of the call after the table. */
  def call: String = {
    val placed = window.callForChanges
      .replace("PARTITION BY (k)", s"PARTITION BY ($partitionBy)")
      .replace("ORDER BY (n)", s"ORDER BY ($orderBy)")
    val named = functions.zipWithIndex.map { case (function, i) => s"$function AS value$i" }
    // Every input column is a group of the aggregates of withColumns.
    val groups = if (output == "withColumns") s" GROUP BY ${names.mkString(", ")}" else ""
    val aggregates =
      if (hasAggregates) {
        s", aggregates => TABLE(SELECT ${named.mkString(", ")} FROM input_of_keep$groups)"
      } else ""
    val ofMode = if (output == "agg") s", mode => '$mode'" else ""
    s"$placed, output => '$output'$aggregates$ofMode"
  }
}

/** A kind of change between two queries, a row of the tables of `docs/restarts.md`.
  *
  * @param name
  *   the row of the page
  * @param outcome
  *   what becomes of the state
  * @param make
  *   changes a query; None if the query has nothing to change in this way
  * @param isComparable
  *   true if the query then gives what a new query gives for the same rows
  */
final case class Change(
    name: String,
    outcome: Outcome,
    make: (Random, KeepQuery) => Option[KeepQuery],
    isComparable: Boolean = true)

object ChangedQueries {
  private val Columns =
    Seq("k", "n", "text", "i", "x", "y", "CAST(i AS SMALLINT) AS w", "amount", "ts")

  /** Aggregates over columns that no change removes. */
  val Functions: Seq[String] = Seq(
    "sum(x)",
    "avg(x)",
    "min(x)",
    "max(n)",
    "count(DISTINCT i)",
    "first(text)",
    "last(x)",
    "collect_list(i)",
    "approx_count_distinct(text)",
    "count(*)",
    "sum(amount)",
    "avg(w)",
    "sum(w)",
    "max(w)",
    "sum(x) FILTER (WHERE text = 'a')",
    "count(DISTINCT text, i)")

  def randomWindow(random: Random): RandomWindow = {
    val windows = new RandomWindows(random)
    val all = windows.ccl ++ windows.apama ++ windows.esper ++ windows.reporting ++
      windows.combined(4) ++ windows.large
    all(random.nextInt(all.size))
  }

  def randomQuery(random: Random): KeepQuery = {
    val output = Seq("changes", "agg", "withColumns")(random.nextInt(3))
    KeepQuery(
      randomWindow(random),
      Columns,
      output,
      if (output == "changes") Nil else random.shuffle(Functions).take(1 + random.nextInt(4)))
  }

  private def columns(name: String, outcome: Outcome = Outcome.Rebuilt)(
      make: (Random, Seq[String]) => Seq[String]): Change =
    Change(
      name,
      outcome,
      (random, query) => Some(query.copy(columns = make(random, query.columns))))

  private def aggregates(name: String, outcome: Outcome = Outcome.Rebuilt)(
      make: (Random, Seq[String]) => Option[Seq[String]]): Change =
    Change(
      name,
      outcome,
      (random, query) =>
        if (query.hasAggregates) make(random, query.functions).map(f => query.copy(functions = f))
        else None)

  private def other(random: Random, functions: Seq[String]): String = {
    val rest = Functions.diff(functions)
    rest(random.nextInt(rest.size))
  }

  private def isDefault(query: KeepQuery): Boolean = query.mode == "all"

  val all: Seq[Change] = Seq(
    columns("a column is added") { (random, columns) =>
      columns.patch(random.nextInt(columns.size + 1), Seq("n * 2 AS extra"), 0)
    },
    columns("a column is removed")((_, columns) => columns.filterNot(_ == "y")),
    columns("a column is renamed") { (_, columns) =>
      columns.map(column => if (column == "y") "y AS yy" else column)
    },
    columns("columns are moved")((random, columns) => random.shuffle(columns).reverse :+ "ts")
      .copy(make = (random, query) => {
        val moved = random.shuffle(query.columns)
        Option.when(moved != query.columns)(query.copy(columns = moved))
      }),
    columns("a column is widened") { (_, columns) =>
      columns.map(column => if (column.endsWith(" AS w")) "i AS w" else column)
    },
    columns("a column gets another type", Outcome.NeedsHistory) { (_, columns) =>
      columns.map(column => if (column == "y") "CAST(y AS FLOAT) AS y" else column)
    },
    columns(
      "a column that the window, the order or the group reads gets another type",
      Outcome.NeedsHistory) { (_, columns) =>
      columns.map(column => if (column == "n") "CAST(n AS DECIMAL(20, 0)) AS n" else column)
    },
    aggregates("an aggregate is added") { (random, functions) =>
      Some(functions.patch(random.nextInt(functions.size + 1), Seq(other(random, functions)), 0))
    },
    aggregates("an aggregate is removed") { (_, functions) =>
      Option.when(functions.size > 1)(functions.tail)
    },
    aggregates("aggregates are moved") { (_, functions) =>
      Option.when(functions.size > 1)(functions.reverse)
    },
    Change(
      "aggregates instead of changes",
      Outcome.Rebuilt,
      (random, query) =>
        Option.when(query.output == "changes") {
          query.copy(
            output = if (random.nextBoolean()) "agg" else "withColumns",
            functions = random.shuffle(Functions).take(2))
        }),
    Change(
      "changes instead of aggregates",
      Outcome.Rebuilt,
      (_, query) =>
        Option.when(query.hasAggregates)(query.copy(output = "changes", functions = Nil))),
    Change(
      "another mode of agg()",
      Outcome.Continues,
      (_, query) =>
        Option.when(query.output == "agg" && isDefault(query))(query.copy(mode = "changes"))),
    Change(
      "another window",
      Outcome.NeedsHistory,
      (_, query) =>
        Some(
          query.copy(window =
            if (query.window.policy == "#firstlength(77)")
              RandomWindow(Ccl, "KEEP 77 ROWS", query.window.time)
            else RandomWindow(Esper, "#firstlength(77)", query.window.time)))),
    Change("order_by", Outcome.NeedsHistory, (_, query) => Some(query.copy(orderBy = "n DESC"))),
    Change(
      "the group",
      Outcome.NeedsHistory,
      (_, query) => Some(query.copy(partitionBy = "k % 2"))),
    Change(
      "time or apply",
      Outcome.NeedsHistory,
      (_, query) =>
        query.window.time.map { now =>
          val next = Application.all.find(_ != now).get
          query.copy(window = query.window.copy(time = Some(next)))
        }))
}
