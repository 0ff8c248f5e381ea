package winops

import java.{util => ju}

import scala.annotation.varargs
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{Column, DataFrame, Dataset}
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.types.{DataType, MapType, VariantType}
import org.apache.spark.sql.winops.internal.Catalyst

import winops.spark.internal.WinopsErrors
import winops.spark.plan.{KeepSpec, Output}

/** The windows that a policy defines over a Dataset, with a method for each output.
  *
  * `winops.keep` creates it, as `groupBy` creates a `RelationalGroupedDataset`. Every method for
  * rows returns an ordinary DataFrame. The object is immutable.
  *
  * {{{
  * import winops.keep
  *
  * val kept = keep(trades, rows = 1, per = "symbol", orderBy = "seq")
  * println(kept)
  * // Kept[KEEP 1 ROWS, orderBy = (seq), per = (symbol)]
  * }}}
  *
  * In the examples, `trades` has the columns `seq`, a long, `symbol`, a string, and `price`, a
  * double, with the rows (1, A, 5.0), (2, B, 7.0), (3, A, 6.0) and (4, A, 4.0).
  */
final class Kept private[winops] (call: KeepCall) {
  import Kept._

  private val all = call.over(Output.Changes)
  call.warn()

  /** The change stream: every row that is inserted and every row that is deleted.
    *
    * The columns of the input follow `_change_type`, `insert` or `delete`; `_change_time`, the
    * timestamp of the step, NULL on a table without `time`; `_change_step`, the number of the
    * step among those of the group, from 0; `_change_seq`, the number of the change among those
    * of the group, from 0; and with several windows `_window`, the name of the window.
    *
    * {{{
    * import winops.keep
    *
    * val changes = keep(trades, "KEEP 2 ROWS PER (symbol)", orderBy = "seq").changes()
    * changes
    *   .where("symbol = 'A'")
    *   .orderBy("_change_seq")
    *   .select("_change_seq", "_change_type", "seq")
    *   .show()
    * // +-----------+------------+---+
    * // |_change_seq|_change_type|seq|
    * // +-----------+------------+---+
    * // |          0|      insert|  1|
    * // |          1|      insert|  3|
    * // |          2|      insert|  4|
    * // |          3|      delete|  1|
    * // +-----------+------------+---+
    * }}}
    */
  def changes(): DataFrame = all

  /** The change stream, with the column `_change_reason` if `reason` is true.
    *
    * The column says why a row entered or left, such as `arrived`, `displaced` or `expired`. A
    * stream may switch it on or off at a restart from a checkpoint.
    *
    * {{{
    * import winops.keep
    *
    * val changes = keep(trades, "KEEP 2 ROWS PER (symbol)", orderBy = "seq").changes(reason = true)
    * changes.where("_change_type = 'delete'").select("seq", "_change_reason").show()
    * // +---+--------------+
    * // |seq|_change_reason|
    * // +---+--------------+
    * // |  1|     displaced|
    * // +---+--------------+
    * }}}
    */
  def changes(reason: Boolean): DataFrame =
    if (reason) call.over(Output.Changes, more = Seq("reason" -> true)) else all

  /** The changes of type `insert`: the rows that enter the window. */
  def inserts(): DataFrame = all.where(col("_change_type") === "insert")

  /** The changes of type `delete`: the rows that leave the window. */
  def deletes(): DataFrame = all.where(col("_change_type") === "delete")

  /** The final window contents, with the columns of the input; only for a table.
    *
    * {{{
    * import winops.keep
    *
    * keep(trades, "KEEP 2 ROWS PER (symbol)", orderBy = "seq").rows().orderBy("seq").show()
    * // +---+------+-----+
    * // |seq|symbol|price|
    * // +---+------+-----+
    * // |  2|     B|  7.0|
    * // |  3|     A|  6.0|
    * // |  4|     A|  4.0|
    * // +---+------+-----+
    * }}}
    */
  def rows(): DataFrame = call.over(Output.Rows)

  /** Aggregates of the window contents after every step that changes them.
    *
    * The columns are those of the group, `_change_time`, `_change_seq`, the number of the last
    * change that the values include, and the aggregates. Spark's aggregate functions are
    * supported, and expressions over several of them.
    *
    * {{{
    * import org.apache.spark.sql.functions._
    *
    * import winops.keep
    *
    * val kept = keep(trades, "KEEP 2 ROWS PER (symbol)", orderBy = "seq")
    * val means = kept.agg(avg("price").as("mean"), (max("price") - min("price")).as("spread"))
    * means.where("symbol = 'A'").orderBy("_change_seq").drop("_change_time").show()
    * // +------+-----------+----+------+
    * // |symbol|_change_seq|mean|spread|
    * // +------+-----------+----+------+
    * // |     A|          0| 5.0|   0.0|
    * // |     A|          1| 5.5|   1.0|
    * // |     A|          3| 5.0|   2.0|
    * // +------+-----------+----+------+
    * }}}
    */
  @varargs def agg(expr: Column, exprs: Column*): DataFrame =
    call.over(Output.Agg, Some(call.rows.agg(expr, exprs: _*)))

  /** Aggregates of the window contents, as rows of a mode.
    *
    * {{{
    * import org.apache.spark.sql.functions._
    *
    * import winops.keep
    *
    * val kept = keep(trades, "KEEP 2 ROWS PER (symbol)", orderBy = "seq")
    * kept.agg(mode = "latest", avg("price").as("mean")).orderBy("symbol").select("symbol", "mean").show()
    * // +------+----+
    * // |symbol|mean|
    * // +------+----+
    * // |     A| 5.0|
    * // |     B| 7.0|
    * // +------+----+
    * }}}
    *
    * @param mode
    *   `all` emits the new values of each step; `latest` emits only the last values of each group
    *   and micro-batch; `changes` emits the replaced values as a `delete` and the new ones as an
    *   `insert`, in a column `_change_type`
    */
  @varargs def agg(mode: String, expr: Column, exprs: Column*): DataFrame =
    call.over(Output.Agg, Some(call.rows.agg(expr, exprs: _*)), Seq("mode" -> mode))

  /** The aggregates that the policy itself defines, such as the select list of Esper. */
  def agg(): DataFrame = call.over(Output.Agg)

  /** The aggregates that the policy itself defines, as rows of a mode. */
  def agg(mode: String): DataFrame = call.over(Output.Agg, more = Seq("mode" -> mode))

  /** Groups the window contents by columns, to aggregate each part.
    *
    * All parts share one window: a row may evict a row of another part. For a window of its own
    * for each value, use `per`.
    *
    * {{{
    * import org.apache.spark.sql.functions._
    *
    * import winops.keep
    *
    * val parts = keep(trades, "KEEP 2 ROWS", orderBy = "seq").groupBy("symbol")
    * parts.agg(mode = "latest", count("*").as("n")).orderBy("symbol").select("symbol", "n").show()
    * // +------+---+
    * // |symbol|  n|
    * // +------+---+
    * // |     A|  2|
    * // |     B|  0|
    * // +------+---+
    * }}}
    */
  @varargs def groupBy(col1: String, cols: String*): GroupedKept =
    groupBy((col1 +: cols).map(Columns.named): _*)

  /** Groups the window contents by columns or expressions, to aggregate each part. */
  @varargs def groupBy(cols: Column*): GroupedKept =
    if (cols.nonEmpty) new GroupedKept(call, cols)
    else
      throw WinopsErrors.argument("MISSING", "groupBy", "one or more columns, or call agg alone")

  /** Every inserted row, with an aggregate of the window contents at its insertion.
    *
    * @param name
    *   the name of the new column
    * @param column
    *   an expression over aggregates and columns of the row
    */
  def withColumn(name: String, column: Column): DataFrame = withColumns(Map(name -> column))

  /** Every inserted row, with aggregates of the window contents at its insertion.
    *
    * The aggregates are those after the row's step, so they exclude the rows that the step
    * evicts. A new column replaces a column of the same name. The new columns are in the order of
    * the map.
    *
    * {{{
    * import org.apache.spark.sql.functions._
    *
    * import winops.keep
    *
    * val kept = keep(trades, rows = 2, per = "symbol", orderBy = "seq")
    * val off = col("price") - avg("price")
    * kept.withColumns(Map("mean" -> avg("price"), "off" -> off)).orderBy("seq").show()
    * // +---+------+-----+----+----+
    * // |seq|symbol|price|mean| off|
    * // +---+------+-----+----+----+
    * // |  1|     A|  5.0| 5.0| 0.0|
    * // |  2|     B|  7.0| 7.0| 0.0|
    * // |  3|     A|  6.0| 5.5| 0.5|
    * // |  4|     A|  4.0| 5.0|-1.0|
    * // +---+------+-----+----+----+
    * }}}
    *
    * @param columns
    *   names, and expressions over aggregates and columns of the row
    */
  def withColumns(columns: Map[String, Column]): DataFrame = withColumns(columns.toSeq, Nil)

  /** Every inserted row, with aggregates over several windows.
    *
    * {{{
    * import org.apache.spark.sql.functions._
    *
    * import winops.keep
    *
    * val windows = Seq("last" -> "KEEP 2 ROWS", "all" -> "KEEP ALL")
    * val kept = keep(trades, windows, orderBy = "seq")
    * val columns = Map("mean" -> ("last" -> avg("price")), "highest" -> ("all" -> max("price")))
    * kept.withColumns(columns).orderBy("seq").show()
    * // +---+------+-----+----+-------+
    * // |seq|symbol|price|mean|highest|
    * // +---+------+-----+----+-------+
    * // |  1|     A|  5.0| 5.0|    5.0|
    * // |  2|     B|  7.0| 6.0|    7.0|
    * // |  3|     A|  6.0| 6.5|    7.0|
    * // |  4|     A|  4.0| 5.0|    7.0|
    * // +---+------+-----+----+-------+
    * }}}
    *
    * @param columns
    *   names, and pairs of the name of a window and an expression over aggregates of its contents
    *   and columns of the row
    */
  def withColumns(columns: Map[String, (String, Column)])(implicit d: DummyImplicit): DataFrame =
    withColumns(
      columns.toSeq.map { case (name, (_, column)) => name -> column },
      columns.toSeq.map { case (name, (window, _)) => name -> window })

  /** Every inserted row, with aggregates of the window contents at its insertion. */
  def withColumns(columns: ju.Map[String, Column]): DataFrame =
    withColumns(columns.asScala.toSeq, Nil)

  /** Every inserted row, with aggregates over several windows.
    *
    * @param columns
    *   names, and expressions over aggregates and columns of the row
    * @param windows
    *   the window of each of these names
    */
  def withColumns(columns: ju.Map[String, Column], windows: ju.Map[String, String]): DataFrame =
    withColumns(columns.asScala.toSeq, windows.asScala.toSeq)

  /** Each row of another Dataset once, with aggregates of its group's window contents as of the
    * time of the row.
    *
    * The row reads the window after the rows of the window up to its time, its own time included,
    * and does not enter it. Rows without a group, or whose window is empty, have the aggregates
    * of no rows. The windows need `time`; over streams, the rows of both wait for the watermark.
    * The same call over tables has the same rows.
    *
    * {{{
    * import org.apache.spark.sql.functions._
    *
    * import winops.keep
    *
    * val timed = trades.withColumn("ts", timestamp_seconds(col("seq")))
    * val orders = timed.where("seq > 2").selectExpr("seq AS id", "symbol", "ts AS placed")
    * val kept = keep(timed, rows = 2, per = "symbol", time = "ts")
    * val asOf = kept.lookup(orders, Map("mean" -> avg("price")), time = "placed")
    * asOf.drop("placed").orderBy("id").show()
    * // +---+------+----+
    * // | id|symbol|mean|
    * // +---+------+----+
    * // |  3|     A| 5.5|
    * // |  4|     A| 5.0|
    * // +---+------+----+
    * }}}
    *
    * Fails with `WINOPS_LOOKUP` if one of the two is a stream and the other one a table, if the
    * groups of the window depend on each other, and if the columns do not fit.
    *
    * @param other
    *   the rows that look up
    * @param columns
    *   names, and expressions over aggregates of the window contents, as a Map or a Seq of pairs.
    *   The new columns are in its order; a Map of more than four names has none that is known.
    * @param on
    *   for columns of the group key, the columns of `other`; by default those of the same name
    * @param time
    *   the time column of `other`; by default that with the name of `keep`'s time column
    * @param before
    *   true to read the window before the rows of the row's own time
    * @param how
    *   `left`, or `inner` to omit rows whose windows are empty
    * @param contents
    *   the name of a column with the rows of the window, as an array of structs; no such column
    *   by default
    * @param maxRows
    *   the maximum number of rows in that array
    * @param windows
    *   with several windows, the window of each of the names in `columns`
    */
  def lookup(
      other: Dataset[_],
      columns: Iterable[(String, Column)],
      on: Map[String, String] = Map.empty,
      time: String = null,
      before: Boolean = false,
      how: String = "left",
      contents: String = null,
      maxRows: Long = KeepSpec.DefaultMaxContent,
      windows: Map[String, String] = Map.empty): DataFrame = {
    val named = columns.toSeq.map { case (name, column) => column.as(name) }
    val query = named.headOption.map(first => call.rows.agg(first, named.tail: _*))
    val passed = Seq[Option[(String, Any)]](
      Option.when(on.nonEmpty)("lookup_on" -> on.toSeq),
      Option(time).map("lookup_time" -> _),
      Option.when(before)("lookup_before" -> true),
      Some("lookup_how" -> how),
      Option(contents).map("lookup_contents" -> _),
      Option.when(windows.nonEmpty)("of_windows" -> windows.toSeq))
    call.over(Output.Lookup, query, passed.flatten ++ atMost(maxRows), Some(other))
  }

  /** Each row of another Dataset once, with aggregates of its group's window contents as of its
    * time.
    *
    * @param other
    *   the rows that look up
    * @param columns
    *   names, and expressions over aggregates of the window contents; the new columns are in the
    *   order of the map
    * @param on
    *   for columns of the group key, the columns of `other`; by default those of the same name
    * @param time
    *   the time column of `other`
    */
  def lookup(
      other: Dataset[_],
      columns: ju.Map[String, Column],
      on: ju.Map[String, String],
      time: String): DataFrame =
    lookup(other, columns.asScala.toSeq, on.asScala.toMap, time)

  /** The window contents each time that they change or are reported, at most 100,000 rows.
    *
    * The columns are `_change_time`, `_change_step`, those of the group, and `content`: an array
    * of structs with the columns of the input, oldest row first.
    *
    * {{{
    * import winops.{keep, spl}
    *
    * val contents = keep(trades, spl("sliding, count(3), count(2)"), orderBy = "seq").snapshots()
    * contents.orderBy("_change_step").selectExpr("content.seq").show()
    * // +---------+
    * // |      seq|
    * // +---------+
    * // |   [1, 2]|
    * // |[2, 3, 4]|
    * // +---------+
    * }}}
    */
  def snapshots(): DataFrame = call.over(Output.Snapshots)

  /** The window contents each time that they change, at most `maxRows` rows. */
  def snapshots(maxRows: Long): DataFrame = call.over(Output.Snapshots, more = atMost(maxRows))

  /** All events of a window of IBM Streams, with at most 100,000 rows each.
    *
    * The columns are `_event_type`, `_change_time`, `_change_step`, those of the group, and
    * `rows`: an array of structs with the columns of the input, oldest row first.
    *
    * {{{
    * import winops.{keep, spl}
    *
    * val kept = keep(trades.limit(2), spl("tumbling, count(2)"), orderBy = "seq")
    * kept.events().selectExpr("_event_type", "rows.seq").show()
    * // +-----------+------+
    * // |_event_type|   seq|
    * // +-----------+------+
    * // |  INSERTION|   [1]|
    * // |  INSERTION|   [2]|
    * // |   EVICTION|[1, 2]|
    * // +-----------+------+
    * }}}
    */
  def events(): DataFrame = call.over(Output.Events)

  /** All events of a window of IBM Streams, with at most `maxRows` rows each. */
  def events(maxRows: Long): DataFrame = call.over(Output.Events, more = atMost(maxRows))

  /** Compares the query of [[changes]] with the checkpoint of a former query. For the query of
    * another output, call `winops.restartPlan` with its DataFrame.
    *
    * @param checkpoint
    *   the `checkpointLocation` of the former query
    */
  def restartPlan(checkpoint: String): DataFrame = winops.restartPlan(all, checkpoint)

  /** One or two sentences that describe the window.
    *
    * {{{
    * import winops.keep
    *
    * println(keep(trades, "KEEP 2 ROWS PER (symbol)", orderBy = "seq").describe())
    * // For each `symbol`, keeps the newest 2 rows.
    * }}}
    */
  def describe(): String = call.over(Output.Describe).head().getString(0)

  /** The policy and the other arguments of the call. */
  override def toString: String = s"Kept[$call]"

  private def withColumns(
      columns: Seq[(String, Column)],
      windows: Seq[(String, String)]): DataFrame = {
    val named = columns.map { case (name, column) => column.as(name) }
    if (named.isEmpty) {
      throw WinopsErrors.argument("MISSING", "withColumns", "one or more names and columns")
    }
    // Spark allows columns of the row beside aggregates only if the query groups by them.
    val groupable = call.rows.schema.fields.toSeq
      .filterNot(field => Catalyst.exists(field.dataType)(isNeverKey))
      .map(field => Columns.named(field.name))
    val query = call.rows.groupBy(groupable: _*).agg(named.head, named.tail: _*)
    val ofWindows = Option.when(windows.nonEmpty)("of_windows" -> windows)
    call.over(Output.WithColumns, Some(query), ofWindows.toSeq)
  }
}

private object Kept {
  private def isNeverKey(dataType: DataType): Boolean =
    dataType.isInstanceOf[MapType] || dataType.isInstanceOf[VariantType]

  private def atMost(rows: Long) = Seq("max_content" -> rows)
}
