package winops.spark.restart

import winops.spark.testing.{Readings, RandomWindow}
import winops.text.ccl.Ccl

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
  * @param orderBy
  *   the columns of ORDER BY; empty for none
  * @param partitionBy
  *   the columns of PARTITION BY; empty for one group
  * @param idle
  *   the value of the argument `idle`. With a time and without it, a window of one row for each
  *   key would run as a group for each key.
  * @param others
  *   further windows, by their names
  * @param arguments
  *   further arguments, as SQL by their names
  * @param valueName
  *   the beginning of the names of aggregates
  * @param kind
  *   the kind of changes that are not filtered out
  * @param delay
  *   the delay of the watermark
  * @param settings
  *   settings of the session in which the query starts
  * @param place
  *   the folder of the checkpoint
  * @param isUnion
  *   true if the input is a union of streams
  * @param isRepartitioned
  *   true if an operator before `keep` loses the order of the source
  * @param time
  *   the time column, if the window has a time
  */
final case class KeepQuery(
    window: RandomWindow,
    columns: Seq[String],
    output: String,
    functions: Seq[String],
    mode: String = "all",
    orderBy: String = "n",
    partitionBy: String = "k",
    idle: Option[String] = Some("1000 days"),
    others: Map[String, String] = Map.empty,
    arguments: Map[String, String] = Map.empty,
    valueName: String = "value",
    kind: Option[String] = None,
    delay: String = Readings.Disorder,
    settings: Map[String, String] = Map.empty,
    place: String = "checkpoint",
    isUnion: Boolean = false,
    isRepartitioned: Boolean = false,
    time: String = "ts") {
  def hasAggregates: Boolean = output == "agg" || output == "withColumns"

  /** True if the query ends and then applies the rows that wait. */
  def flushes: Boolean = arguments.contains("at_end")

  /** The names of the input columns. */
  def names: Seq[String] = columns.map(_.split(" ").last)

  /** The SQL of the call after the table. */
  def call: String = {
    val order = if (orderBy.isEmpty) "" else s" ORDER BY ($orderBy)"
    val ofTime = window.time.toSeq.flatMap { application =>
      Seq("time" -> s"'$time'", "apply" -> s"'${application.name}'") ++ idle.map(i =>
        "idle" -> s"'$i'")
    }
    val named = ("output" -> s"'$output'") +: (ofTime ++ aggregates ++ arguments.toSeq.sorted)
    val texts = named.map { case (name, value) => s"$name => $value" }
    val group =
      if (partitionBy.isEmpty) "WITH SINGLE PARTITION" else s"PARTITION BY ($partitionBy)"
    s"$group$order, ${(policy +: texts).mkString(", ")}"
  }

  private def policy: String = {
    def text(policy: String) = s"'${policy.replace("'", "\\'")}'"
    if (others.nonEmpty) {
      val each = (others + ("one" -> window.policy)).toSeq.sorted
      val named = each.map { case (name, policy) => s"'$name', ${text(policy)}" }
      s"windows => named_struct(${named.mkString(", ")}), dialect => '${window.dialect.name}'"
    } else if (window.dialect == Ccl) text(window.policy)
    else s"${window.dialect.name} => ${text(window.policy)}"
  }

  private def aggregates: Seq[(String, String)] = {
    val named = functions.zipWithIndex.map { case (function, i) => s"$function AS $valueName$i" }
    // Every input column is a group of the aggregates of withColumns.
    val groups = if (output == "withColumns") s" GROUP BY ${names.mkString(", ")}" else ""
    val ofAggregates =
      if (hasAggregates) {
        Seq("aggregates" -> s"TABLE(SELECT ${named.mkString(", ")} FROM input_of_keep$groups)")
      } else Nil
    ofAggregates ++ (if (output == "agg") Seq("mode" -> s"'$mode'") else Nil)
  }
}
