package winops

import java.{util => ju}

import scala.annotation.varargs
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.Column

/** The arguments of `keep` beside the rows and the policy, for callers in Java.
  *
  * Callers in Scala name the arguments of `keep` instead. An object is immutable: each method
  * returns another one. [[Winops.options]] is the one to start with.
  */
final class KeepOptions private[winops] (private[winops] val values: Map[String, Any]) {

  /** Keeps the newest `number` rows of each group. */
  def rows(number: Long): KeepOptions = set("rows", number)

  /** Evicts `number` rows at once: the window grows to `rows` + `number` rows. */
  def slack(number: Long): KeepOptions = set("slack", number)

  /** Keeps each row for an interval, such as `10 minutes`. */
  def interval(text: String): KeepOptions = set("interval", Interval.ofText(text))

  /** Keeps each row for an interval. */
  def interval(duration: java.time.Duration): KeepOptions =
    set("interval", Interval.ofDuration(duration))

  /** Empties the whole window at once: when row `rows` + 1 arrives, or at the end of each
    * interval.
    */
  def every(): KeepOptions = set("every", true)

  /** Names the columns of the group key. */
  @varargs def per(name: String, more: String*): KeepOptions =
    set("per", Columns.ofNames(name +: more))

  /** Sets the expressions of the group key. */
  @varargs def per(column: Column, more: Column*): KeepOptions =
    set("per", Columns.ofColumns(column +: more))

  /** Names the columns that order the rows of a group, ascending. */
  @varargs def orderBy(name: String, more: String*): KeepOptions =
    set("orderBy", Columns.ofNames(name +: more))

  /** Sets the sort keys of the rows of a group, such as `col("seq").desc()`. */
  @varargs def orderBy(column: Column, more: Column*): KeepOptions =
    set("orderBy", Columns.ofColumns(column +: more))

  /** Names the column of event time. */
  def time(name: String): KeepOptions = set("time", name)

  /** Sets the application order with `time`: `event_time` or `arrival`. */
  def apply(order: String): KeepOptions = set("apply", order)

  /** Gives values to the parameters in the policy's text. */
  def params(named: ju.Map[String, _]): KeepOptions = set("params", named.asScala.toMap)

  /** Starts the first period at a time in milliseconds since the epoch. */
  def origin(millis: Long): KeepOptions = set("origin", Origin.ofMillis(millis))

  /** Starts the first period at the first row of each group, with `first`. */
  def origin(text: String): KeepOptions = set("origin", Origin.ofText(text))

  /** Removes a group that has had no rows for an interval, such as `7 days`. */
  def idle(text: String): KeepOptions = set("idle", Interval.ofText(text))

  /** Removes a group that has had no rows for an interval. */
  def idle(duration: java.time.Duration): KeepOptions = set("idle", Interval.ofDuration(duration))

  /** Limits the rows of a group. */
  def maxRows(number: Long): KeepOptions = set("maxRows", number)

  /** Sets the treatment of a row whose `time` is NULL: `error` or `drop`. */
  def onNullTime(choice: String): KeepOptions = set("onNullTime", choice)

  /** Sets the treatment of a restart with another window: `refuse` or `carry`. */
  def onChange(choice: String): KeepOptions = set("onChange", choice)

  /** Sets the values that stored rows get in columns that a restart adds. */
  def fill(values: ju.Map[String, _]): KeepOptions = set("fill", values.asScala.toMap)

  /** Names the column with punctuations, for windows of IBM Streams. */
  def punct(name: String): KeepOptions = set("punct", name)

  /** Sets the treatment of waiting rows when the input of a stream ends: `wait` or `flush`. */
  def atEnd(choice: String): KeepOptions = set("atEnd", choice)

  /** Names the primary key columns, used only to warn about groups of single rows. */
  @varargs def keyColumns(name: String, more: String*): KeepOptions =
    set("keyColumns", name +: more)

  /** Names the primary key columns: a group holds one row of each key, which later rows update or
    * delete.
    */
  @varargs def key(name: String, more: String*): KeepOptions = set("key", name +: more)

  /** Names the string column that says what a row does, such as `insert` or `delete`. */
  def op(name: String): KeepOptions = set("op", name)

  /** Sets the changes of an update: `delete_insert` or `update`. */
  def updates(choice: String): KeepOptions = set("updates", choice)

  /** Adds the columns `_change_row` and `_change_version` to changes, or omits them. */
  def rowId(emits: Boolean): KeepOptions = set("rowId", emits)

  /** Sets the treatment of rows without effect: `drop` or `emit`. */
  def late(choice: String): KeepOptions = set("late", choice)

  /** Emits updated rows again in `withColumns`. */
  def corrections(): KeepOptions = set("corrections", true)

  /** Stores `number` more rows behind the window, which return when a delete or an update makes
    * room: for windows of a number of rows with a primary key.
    */
  def buffer(number: Long): KeepOptions = set("buffer", number)

  private[winops] def set(name: String, value: Any): KeepOptions =
    new KeepOptions(values + (name -> value))
}
