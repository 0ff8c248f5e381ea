package winops.spark.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}

/** The options of an operator over groups of rows, without resolved columns. */
trait OperatorSpec {

  /** The SQL of the group key. */
  def group: Seq[String]

  /** The SQL of the order within a group. */
  def order: Seq[String]

  /** The order in which event times are applied; None without a time column. */
  def application: Option[Application]

  /** The idle time in milliseconds after which a group is removed. */
  def idleMillis: Option[Long]

  /** The maximum number of rows in a group, including rows that wait for the watermark. */
  def maxRows: Long

  /** True if a row without a time is dropped and counted; otherwise such a row is an error. */
  def dropNullTime: Boolean

  /** True if rows that have no effect are emitted; of an input with rows that read, only these.
    */
  def emitsRefused: Boolean

  /** True if a row that reads is emitted without results if it has no time. */
  def emitsNullTime: Boolean = false

  /** True if waiting rows are applied when the input of a stream ends. */
  def flushesAtEnd: Boolean

  /** The arguments for a restart with another query. */
  def restart: RestartOptions = RestartOptions()

  /** The words of errors about the operator. */
  def words: OperatorWords

  /** The name of the operator in EXPLAIN. */
  def nodeName: String

  /** The operator in one line: the text of its policy, or its window. */
  def title: String

  /** The name of the operator in errors of a query that may have several ones. */
  def namedInQuery: String = s"${words.operator} [$title]"

  /** Returns true if a group's output depends on rows of other groups. */
  def isCrossGroup: Boolean

  /** The number of newest rows per group that determine a table's result; None if other rows can
    * affect the result, even by an error.
    */
  def newestRows: Option[Int]

  /** Returns true if a row without a time is dropped and counted, and not an error.
    *
    * @param isAsking
    *   true for rows that read the state of their group
    */
  def dropsNullTime(isAsking: Boolean): Boolean = dropNullTime

  /** Returns true if a row fails the query that exceeds the limit of its group, or whose
    * operation or primary key is unknown. Otherwise such a row is emitted.
    */
  def failsOnRefused: Boolean = !emitsRefused

  /** Returns true if one task must process all rows. */
  def runsInOneTask: Boolean = group.isEmpty || isCrossGroup

  /** Returns true if rows wait for the watermark. */
  def rowsWait: Boolean = application.contains(Application.EventTime)

  /** Returns true if the order of rows depends on their source alone. */
  def needsSourceOrder: Boolean = order.isEmpty && !rowsWait

  /** Describes the operator in one line of EXPLAIN.
    *
    * @param results
    *   the computed columns
    */
  def describe(time: Option[Attribute], results: Seq[Expression]): String

  /** The part of [[describe]] that all operators share.
    *
    * @param subject
    *   what the operator computes
    */
  protected final def described(
      subject: String,
      time: Option[Attribute],
      more: Seq[String]): String = {
    val parts = Seq(
      Some(subject),
      Option.when(group.nonEmpty)(group.mkString("per [", ", ", "]")),
      Option.when(runsInOneTask)("in one task"),
      Option.when(order.nonEmpty)(order.mkString("order by [", ", ", "]")),
      time.map(t => s"time [${t.name}] applied by ${application.fold("")(_.name)}"),
      Option.when(dropNullTime)("rows without a time dropped"),
      idleMillis.map(millis => s"idle [$millis ms]"),
      Option.when(maxRows != OperatorSpec.DefaultMaxRows)(s"at most $maxRows rows"),
      Option.when(flushesAtEnd)("flushed at the end"))
    (parts.flatten ++ more).mkString(s"$nodeName ", ", ", "")
  }
}

object OperatorSpec {
  val DefaultMaxRows: Long = 10000000L
}
