import java.sql.Timestamp

import org.apache.spark.sql.{DataFrame, Dataset, SparkSession}

import winops.spark.{ForgetFunction, RepartitionFunction, RestartPlanFunction, StateFunction}

/** Retention windows for Apache Spark: count, time and condition windows as an operator.
  *
  * A policy such as `KEEP 100 ROWS SLACK 10 PER (symbol)` defines which rows a window keeps. The
  * operator runs inside Spark and emits every row that is inserted and every row that is deleted.
  * The same call works on a table and on a stream.
  *
  * {{{
  * import winops.keep
  *
  * val kept = keep(trades, "KEEP 2 ROWS PER (symbol)", orderBy = "seq")
  * kept.rows().orderBy("seq").show()
  * // +---+------+-----+
  * // |seq|symbol|price|
  * // +---+------+-----+
  * // |  2|     B|  7.0|
  * // |  3|     A|  6.0|
  * // |  4|     A|  4.0|
  * // +---+------+-----+
  * }}}
  *
  * Import the names that a program uses, such as `import winops.{esper, keep}`: a wildcard would
  * hide the `spark` of a shell behind a package of this name. Callers in Java use
  * [[winops.Winops]].
  */
package object winops {

  /** The default of a number that is not given. */
  private val Omitted = Long.MinValue

  /** Keeps the rows of a table or a stream in windows defined by a policy.
    *
    * The window is given by a policy, or by `rows` or `interval`:
    *
    * {{{
    * import org.apache.spark.sql.functions._
    *
    * import winops.{esper, keep}
    *
    * val policies = Seq(
    *   keep(trades, "KEEP 2 ROWS PER (symbol)", orderBy = "seq"),
    *   keep(trades, rows = 2, per = "symbol", orderBy = col("seq")),
    *   keep(trades, esper("#length(2)"), per = Seq("symbol"), orderBy = Seq("seq")))
    * policies.foreach(kept => println(kept.describe()))
    * // For each `symbol`, keeps the newest 2 rows.
    * // For each `symbol`, keeps the newest 2 rows.
    * // For each `symbol`, keeps the newest 2 rows.
    * }}}
    *
    * @param df
    *   the input rows; every row is treated as an insert
    * @param policy
    *   a policy in CCL, or in another language with [[esper]], [[apama]] or [[spl]]; names and
    *   policies of one language define several windows over the same rows, which are stored once
    * @param rows
    *   the number of newest rows to keep in each group
    * @param slack
    *   the number of rows to evict at once, by default 1: the window grows to `rows` + `slack`
    *   rows
    * @param interval
    *   the time for which each row is kept, such as `10 minutes`
    * @param every
    *   true empties the whole window at once: when row `rows` + 1 arrives, or at the end of each
    *   `interval`
    * @param per
    *   the group key: each distinct combination of these columns has its own window; all rows
    *   share one if it is omitted
    * @param orderBy
    *   the sort order of the rows of a group, as in `Dataset.orderBy`; if it is omitted, rows
    *   keep the order of the source, if the source has one
    * @param time
    *   the event time column, a timestamp, which on a stream needs `withWatermark`; if it is
    *   omitted, time is the timestamp of the micro-batch
    * @param apply
    *   the application order with `time`: `event_time`, the default, holds rows until the
    *   watermark has passed them; `arrival` applies rows as they arrive
    * @param params
    *   the values of the parameters in the policy's text: numbers, strings and durations
    * @param origin
    *   the start of the first period: milliseconds since the epoch, an `Instant`, or `first` for
    *   the first row of each group
    * @param idle
    *   the time after which a group without new rows is removed; its rows are deleted in the
    *   change stream
    * @param maxRows
    *   the maximum number of rows of a group, 10 million by default; more fail the query with
    *   `WINOPS_MAX_ROWS`
    * @param onNullTime
    *   the treatment of a row whose `time` is NULL: `error`, the default, or `drop`
    * @param punct
    *   a string column with punctuations, for windows of IBM Streams
    * @param atEnd
    *   the treatment of rows that wait for the watermark when the input of a stream ends: `wait`,
    *   the default, leaves them in the checkpoint; `flush` applies them
    * @param onChange
    *   the treatment of a restart with another window: `refuse`, the default, fails the query;
    *   `carry` lets the rows that are held enter the new window
    * @param fill
    *   the values that stored rows get in columns that a restart adds, by the names of the
    *   columns; other columns are NULL there
    * @param keyColumns
    *   the primary key columns, used only to log a warning about groups of single rows
    * @param key
    *   the primary key columns: a group holds one row of each key, which later rows update or
    *   delete
    * @param op
    *   a string column that says what a row does: `insert`, `update`, `upsert`, `delete`, or a
    *   word of Debezium or of a change feed; by default each row is an upsert. The column is not
    *   in the output
    * @param updates
    *   the changes of an update: `delete_insert`, the default, or `update` for `update_before`
    *   and `update_after`
    * @param rowId
    *   whether changes have the columns `_change_row` and `_change_version`, by default with
    *   `key`
    * @param late
    *   the treatment of rows without effect, such as late ones: `drop`, the default, or `emit`
    * @param corrections
    *   true emits an updated row again in `withColumns`
    * @param buffer
    *   the number of rows that are stored behind a window of `rows` rows, `#length`, `#sort` or
    *   `#rank` with `key`: the best of them returns when a delete or an update makes room; by
    *   default evicted rows do not return
    */
  def keep(
      df: Dataset[_],
      policy: WindowPolicy = null,
      rows: Long = Omitted,
      slack: Long = Omitted,
      interval: Interval = null,
      every: Boolean = false,
      per: Columns = null,
      orderBy: Columns = null,
      time: String = null,
      apply: String = null,
      params: Map[String, Any] = null,
      origin: Origin = null,
      idle: Interval = null,
      maxRows: Long = Omitted,
      onNullTime: String = null,
      punct: String = null,
      atEnd: String = null,
      onChange: String = null,
      fill: Map[String, Any] = null,
      keyColumns: Seq[String] = null,
      key: Seq[String] = null,
      op: String = null,
      updates: String = null,
      rowId: Option[Boolean] = None,
      late: String = null,
      corrections: Boolean = false,
      buffer: Long = Omitted): Kept = {
    val all = Map[String, Any](
      "rows" -> rows,
      "slack" -> slack,
      "interval" -> interval,
      "every" -> every,
      "per" -> per,
      "orderBy" -> orderBy,
      "time" -> time,
      "apply" -> apply,
      "params" -> params,
      "origin" -> origin,
      "idle" -> idle,
      "maxRows" -> maxRows,
      "onNullTime" -> onNullTime,
      "punct" -> punct,
      "atEnd" -> atEnd,
      "onChange" -> onChange,
      "fill" -> fill,
      "keyColumns" -> keyColumns,
      "key" -> key,
      "op" -> op,
      "updates" -> updates,
      "late" -> late,
      "corrections" -> corrections,
      "buffer" -> buffer)
    val options = new KeepOptions(all.filter { case (_, value) =>
      value != null && value != Omitted && value != false
    } ++ rowId.map("rowId" -> _))
    new Kept(new KeepCall(df, Option(policy), options))
  }

  /** A policy in the language of Esper: one or more data windows, or a whole statement.
    *
    * {{{
    * import winops.{esper, keep}
    *
    * val kept = keep(trades, esper("#unique(symbol)"), orderBy = "seq")
    * println(kept.rows().orderBy("seq").select("seq").collect().mkString(" "))
    * // [2] [4]
    * }}}
    */
  def esper(text: String): WindowPolicy = Winops.esper(text)

  /** A policy in the language of Apama: the window of a stream query, or the whole query.
    *
    * {{{
    * import winops.{apama, keep}
    *
    * val kept = keep(trades, apama("partition by symbol retain 2"), orderBy = "seq")
    * println(kept.rows().orderBy("seq").select("seq").collect().mkString(" "))
    * // [2] [3] [4]
    * }}}
    */
  def apama(text: String): WindowPolicy = Winops.apama(text)

  /** A policy in the language of IBM Streams: a window clause.
    *
    * {{{
    * import winops.{keep, spl}
    *
    * println(keep(trades, spl("sliding, count(2)"), orderBy = "seq").describe())
    * // Keeps the newest 2 rows; reports the window contents when a row arrives.
    * }}}
    */
  def spl(text: String): WindowPolicy = Winops.spl(text)

  /** Puts the rows of a table before those of a stream.
    *
    * A `keep` or window functions over the result start with the state that the rows of the table
    * lead to. The first micro-batch computes it; later ones, and a restart, do not read the table
    * again. A restart with another query whose [[restartPlan]] says `needs history` replaces the
    * state by the rows of the table.
    *
    * @param stream
    *   the stream
    * @param table
    *   rows that precede those of the stream, with the columns of the stream by name; further
    *   columns are not read
    * @param emit
    *   the rows of the table that have output: `none`, the default, or `all`. With `none`, rows
    *   of the table that leave up to its greatest time have no output either
    * @param until
    *   the time before which rows of the table are read; all of them if it is omitted. It has no
    *   effect on a restart that replaces the state: with `apply` `event_time`, such a restart
    *   reads the rows before the watermark that the former query reached, and otherwise all rows
    */
  def withHistory(
      stream: Dataset[_],
      table: Dataset[_],
      emit: String = "none",
      until: Timestamp = null): DataFrame =
    new HistoryCall(stream, table, emit, Option(until)).rows

  /** Joins each row of one Dataset with the row of another one that is the nearest in time, with
    * the words of `merge_asof` of pandas.
    *
    * Both are tables, or both are streams with a watermark on their time columns. Rows without a
    * match have NULL in the columns of the right side. A NULL key matches nothing, and neither
    * does a row without a time. Of several rows of the right side at one time, the last one in
    * the order of their source matches. Keys of different types are compared in a type that has
    * all values of both; a string is compared with strings only.
    *
    * {{{
    * import org.apache.spark.sql.functions._
    *
    * import winops.asofJoin
    *
    * val timed = trades.withColumn("ts", timestamp_seconds(col("seq")))
    * val orders = timed.where("seq > 2").selectExpr("seq AS id", "symbol", "ts")
    * val quotes = timed.where("seq < 4").select("symbol", "price", "ts")
    * val found = asofJoin(orders, quotes, on = "ts", by = Seq("symbol"))
    * found.drop("ts").orderBy("id").show()
    * // +---+------+-----+
    * // | id|symbol|price|
    * // +---+------+-----+
    * // |  3|     A|  6.0|
    * // |  4|     A|  6.0|
    * // +---+------+-----+
    * }}}
    *
    * Fails with `WINOPS_ASOF_JOIN` if one of the two is a stream and the other one a table, over
    * streams with another direction than `backward` and without a tolerance, and if no type has
    * the values of both keys. With another direction, rows of a stream wait for the tolerance, so
    * that their time has no watermark in the result.
    *
    * @param on
    *   the time column of both, which the result has once; otherwise `leftOn` and `rightOn`
    * @param by
    *   the columns of both that are equal, which the result has once; otherwise `leftBy` and
    *   `rightBy`
    * @param direction
    *   `backward`, the default: the newest row that is not behind; `forward`: the first row that
    *   is not before; `nearest`: the nearer of these
    * @param tolerance
    *   the maximum distance of the times; none by default
    * @param allowExactMatches
    *   false if a row of the same time does not match
    * @param how
    *   `left`, the default, or `inner` to omit rows without a match
    * @param suffixes
    *   what is appended to the names of other columns that both have
    * @param idle
    *   the time after which the last row of a key of the right side is removed; only with
    *   `backward`. By default it stays
    * @param maxRows
    *   the maximum number of rows of a key, with those that wait
    * @param atEnd
    *   `wait`, the default, or, with `backward` only, `flush` to join the rows that wait when the
    *   input of a stream ends
    * @param late
    *   `drop`, the default, or `emit`: late rows of the left side and rows without a time are
    *   emitted with the reason in the last column, `_change_reason`
    */
  def asofJoin(
      left: Dataset[_],
      right: Dataset[_],
      on: String = null,
      leftOn: String = null,
      rightOn: String = null,
      by: Seq[String] = null,
      leftBy: Seq[String] = null,
      rightBy: Seq[String] = null,
      direction: String = "backward",
      tolerance: Interval = null,
      allowExactMatches: Boolean = true,
      how: String = "left",
      suffixes: (String, String) = ("_x", "_y"),
      idle: Interval = null,
      maxRows: Long = Omitted,
      atEnd: String = null,
      late: String = null): DataFrame = {
    val options = Seq[(String, Any)](
      "on" -> on,
      "left_on" -> leftOn,
      "right_on" -> rightOn,
      "by" -> by,
      "left_by" -> leftBy,
      "right_by" -> rightBy,
      "direction" -> direction,
      "tolerance" -> Option(tolerance).map(_.text).orNull,
      "allow_exact_matches" -> allowExactMatches,
      "how" -> how,
      "suffixes" -> Seq(suffixes._1, suffixes._2),
      "idle" -> Option(idle).map(_.text).orNull,
      "max_rows" -> (if (maxRows == Omitted) null else maxRows),
      "at_end" -> atEnd,
      "late" -> late)
    new AsOfCall(left, right, options.filter(_._2 != null)).rows
  }

  /** Reads the rows that the windows of a query hold, from the query's checkpoint.
    *
    * The query may be running, stopped or deleted, and the folder is not changed. The columns of
    * the rows follow `_partition`, `_group`, with several windows `_window`, `_row`, `_arrived`,
    * `_leaves` and `_waits`. Rows that wait to look a window up are in `_lookup`, the last
    * column, which only queries with lookups or as-of joins have.
    *
    * @param checkpoint
    *   the `checkpointLocation` of the query
    * @param batch
    *   the number of the micro-batch after which to read the rows, by default the last committed
    *   one
    * @param operator
    *   the `operatorId` of the `keep` to read if the query has several
    */
  def readState(
      spark: SparkSession,
      checkpoint: String,
      batch: Long = Omitted,
      operator: Long = Omitted): DataFrame = {
    val numbers = Seq("batch" -> batch, "operator" -> operator).filter(_._2 != Omitted)
    Winops.call(spark, StateFunction.Name, Seq(checkpoint), numbers)
  }

  /** Writes a new checkpoint that continues a query with another number of partitions.
    *
    * Stop the query, call `repartition`, and start the query with the new checkpoint. It emits
    * the same changes as without the move. The old checkpoint is not changed.
    *
    * @param checkpoint
    *   the `checkpointLocation` of the query
    * @param partitions
    *   the new number of partitions; a `keep` that runs in one task keeps its one partition
    * @param to
    *   the folder of the new checkpoint, which must be empty or not exist
    */
  def repartition(spark: SparkSession, checkpoint: String, partitions: Int, to: String): Unit = {
    val _ = Winops
      .call(spark, RepartitionFunction.Name, Seq(checkpoint, to, partitions), Nil)
      .collect()
  }

  /** Writes a new checkpoint that continues a query without some groups, as if no row of them had
    * arrived, and returns their number.
    *
    * Stop the query, call `forget`, and start the query with the new checkpoint. The rows of the
    * groups that the sink has are not deleted. The old checkpoint is not changed: delete its
    * folder, which still contains the rows.
    *
    * @param checkpoint
    *   the `checkpointLocation` of the query
    * @param where
    *   a condition in SQL over the columns of the group key, such as `customer = 'x'`; a group
    *   for which it is true is removed
    * @param to
    *   the folder of the new checkpoint, which must be empty or not exist
    * @param operator
    *   the `operatorId` of the only `keep` that loses groups; by default all of the query do
    */
  def forget(
      spark: SparkSession,
      checkpoint: String,
      where: String,
      to: String,
      operator: Long = Omitted): Long = {
    val numbers = Seq("operator" -> operator).filter(_._2 != Omitted)
    Winops
      .call(spark, ForgetFunction.Name, Seq(checkpoint, to, where), numbers)
      .collect()
      .map(_.getAs[Long]("forgotten_groups"))
      .sum
  }

  /** Compares a query with the checkpoint of another one, and says what becomes of the state if
    * the query restarts with it. Nothing is run or changed.
    *
    * The first row is about the whole state, with the numbers of groups, rows and bytes that the
    * first micro-batch rewrites. Each further row is about one difference: `subject`, `before`,
    * `now`, `outcome`, `because`, and `remedy` if something is missing. `plan` identifies the
    * plan for `spark.winops.restart.plan`.
    *
    * @param df
    *   a streaming query with `keep` or with window functions, as it would be started
    * @param checkpoint
    *   the `checkpointLocation` of the former query
    * @param operator
    *   the `operatorId` of the operator in the checkpoint if it has others than the query
    */
  def restartPlan(df: Dataset[_], checkpoint: String, operator: Long = Omitted): DataFrame = {
    val numbers = Seq("operator" -> operator).filter(_._2 != Omitted)
    Winops.callOver(df, RestartPlanFunction.Name, Seq(checkpoint), numbers)
  }
}
