package winops.spark.plan

import winops.policy.{Policy, StepOrder, Stream, Trigger}

/** The options of a `keep` call, without resolved columns. Defaults are those of the call.
  *
  * @param dialect
  *   the language of the policy's text
  * @param policy
  *   the parsed policy
  * @param group
  *   the SQL of the group key
  * @param order
  *   the SQL of the order within a group
  * @param application
  *   the order in which event times are applied; None without a time column
  * @param idleMillis
  *   the idle time in milliseconds after which a group is removed
  * @param maxRows
  *   the maximum number of rows in a group, including rows that wait for the watermark
  * @param dropNullTime
  *   true if a row without a time is dropped and counted; otherwise such a row is an error
  * @param punctuation
  *   the name of the column that marks punctuation
  * @param output
  *   the output mode
  * @param maxContent
  *   the maximum number of rows in an array of window contents
  * @param mode
  *   the values that the output `agg` emits
  * @param acrossGroups
  *   true if aggregates are cross-group
  * @param ofProjection
  *   true if the output is the policy's own select list, and not the call's aggregates
  * @param flushesAtEnd
  *   true if waiting rows are applied when the input of a stream ends
  * @param exactFloats
  *   true if floating-point results of window functions are folded row by row
  * @param needsFollowing
  *   true if results of window functions depend on rows that follow, for which a row waits
  * @param givesReasons
  *   true if each change has the reason for which its row enters or leaves
  */
final case class KeepSpec(
    dialect: String,
    policy: Policy,
    group: Seq[String],
    order: Seq[String],
    application: Option[Application],
    idleMillis: Option[Long] = None,
    maxRows: Long = KeepSpec.DefaultMaxRows,
    dropNullTime: Boolean = false,
    punctuation: Option[String] = None,
    output: Output = Output.Changes,
    maxContent: Long = KeepSpec.DefaultMaxContent,
    mode: AggMode = AggMode.All,
    acrossGroups: Boolean = false,
    ofProjection: Boolean = false,
    flushesAtEnd: Boolean = false,
    exactFloats: Boolean = false,
    needsFollowing: Boolean = false,
    givesReasons: Boolean = false) {

  /** The text of the policy; that of the window for window functions. */
  def title: String =
    if (!isOver) policy.text
    else {
      val by = if (group.isEmpty) Nil else Seq(s"PARTITION BY ${group.mkString(", ")}")
      val ordered = if (order.isEmpty) Nil else Seq(s"ORDER BY ${order.mkString(", ")}")
      (by ++ ordered).mkString("OVER (", " ", ")")
    }

  /** The number of windows of a group. */
  def windows: Int = Math.max(1, policy.windowNames.size)

  def usesTime: Boolean = policy.usesTime || idleMillis.isDefined

  /** Returns true if a group's changes depend on rows of other groups. */
  def couplesGroups: Boolean =
    group.nonEmpty && (policy.couplesGroups || punctuation.isDefined || acrossGroups)

  /** Returns true if one task must process all rows. */
  def runsInOneTask: Boolean = group.isEmpty || couplesGroups

  /** The changes that the machine emits. Tracked contents need all of them. */
  def stream: Stream =
    if (followsContent) policy.stream.copy(inserts = true, deletes = true) else policy.stream

  /** Returns true if only steps that change the number of rows emit values. */
  def postsOnSizeChange: Boolean = ofProjection && policy.projection.exists(_.postsOnSizeChange)

  /** Returns true if `agg` emits the values before a step: in the mode `changes` if the policy
    * emits deletes, and otherwise for a statement that selects deletes only.
    */
  def givesOldValues: Boolean = output == Output.Agg && (mode match {
    case AggMode.Changes => policy.stream.deletes
    case _ => ofProjection && !policy.stream.inserts
  })

  /** Returns true if `agg` emits the values after a step. */
  def givesNewValues: Boolean =
    if (mode == AggMode.Changes) policy.stream.inserts else !givesOldValues

  /** Returns true if the window contents are tracked step by step. */
  def followsContent: Boolean = output match {
    case Output.Agg | Output.WithColumns => true
    case Output.Snapshots => !reportsByTrigger
    case _ => false
  }

  /** Returns true if the window itself has a trigger for reports. */
  def reportsByTrigger: Boolean =
    policy.retention.windows.exists(_.triggers.report != Trigger.Never)

  /** Returns true if the contents are reported just before they are evicted, as tumbling windows
    * with the step order `Events` do.
    */
  def reportsWhenEmptied: Boolean = policy.stream.order == StepOrder.Events && !reportsByTrigger

  /** The number of newest rows per group that determine a table's result; None if other rows can
    * affect the result, even by an error.
    */
  def newestRows: Option[Int] = {
    val decidesAlone = output == Output.Rows && !couplesGroups && punctuation.isEmpty &&
      idleMillis.isEmpty
    val findsNullTimes = application.forall(_ == Application.EventTime && !dropNullTime)
    policy.newestRows
      .filter(rows => decidesAlone && findsNullTimes && rows < maxRows)
      .filter(_ <= KeepSpec.MaxNewestRows)
      .map(_.toInt)
  }

  /** Returns true if the results are those of Spark's own window functions. */
  def isOver: Boolean = output == Output.Over

  /** The words of errors about the operator. */
  def words: OperatorWords = if (isOver) OperatorWords.Over else OperatorWords.Keep

  def rowsWait: Boolean = application.contains(Application.EventTime)
}

object KeepSpec {
  val DefaultMaxRows: Long = 10000000L
  val DefaultMaxContent: Long = 100000L

  /** The maximum for the newest-rows shortcut, which holds rows on the heap, beyond Spark's
    * memory management.
    */
  private val MaxNewestRows = 1L << 16
}
