package winops.spark.plan

import winops.policy.{Policy, StepOrder, Stream, Trigger}

/** All of a `keep` but its columns.
  *
  * @param dialect
  *   the language the policy was written in
  * @param group
  *   the expressions that group the rows, as they were written
  * @param order
  *   the expressions that order the rows of a group, as they were written
  * @param application
  *   how event times are applied; none without a time column
  * @param idleMillis
  *   after how much silence a group is forgotten
  * @param maxRows
  *   how many rows a group may hold, rows that wait for the watermark included
  * @param punctuation
  *   the column that marks the stream, if there is one
  * @param dropNullTime
  *   whether a row without a time is dropped and counted rather than an error
  * @param maxContent
  *   how many rows a content may have that is given as one value
  * @param mode
  *   the values that `agg` gives
  * @param acrossGroups
  *   whether values are those of all groups together
  * @param ofProjection
  *   whether values are those that the policy itself asks for, and not those of a query
  * @param flushesAtEnd
  *   whether rows that wait for the watermark are applied when the input of a stream ends
  */
final case class KeepSpec(
    dialect: String,
    policy: Policy,
    group: Seq[String],
    order: Seq[String],
    application: Option[Application],
    idleMillis: Option[Long],
    maxRows: Long,
    dropNullTime: Boolean,
    punctuation: Option[String],
    output: Output,
    maxContent: Long,
    mode: AggMode,
    acrossGroups: Boolean,
    ofProjection: Boolean,
    flushesAtEnd: Boolean = false) {

  /** How many windows a group has. */
  def windows: Int = Math.max(1, policy.windowNames.size)

  def usesTime: Boolean = policy.usesTime || idleMillis.isDefined

  /** Whether what happens to one group depends on the others. */
  def couplesGroups: Boolean =
    group.nonEmpty && (policy.couplesGroups || punctuation.isDefined || acrossGroups)

  /** Whether one task has to have all rows. */
  def runsInOneTask: Boolean = group.isEmpty || couplesGroups

  /** What the machine tells of its steps: all, where the content has to be known after each. */
  def stream: Stream =
    if (followsContent) policy.stream.copy(inserts = true, deletes = true) else policy.stream

  /** Whether values are given only by steps that change the number of rows. */
  def postsOnSizeChange: Boolean = ofProjection && policy.projection.exists(_.postsOnSizeChange)

  /** Whether `agg` gives values as they were before a step: where it gives changes, and for a
    * statement that selects nothing else.
    */
  def givesOldValues: Boolean = output == Output.Agg && (mode match {
    case AggMode.Changes => policy.stream.deletes
    case _ => ofProjection && !policy.stream.inserts
  })

  /** Whether `agg` gives values as they are after a step. */
  def givesNewValues: Boolean =
    if (mode == AggMode.Changes) policy.stream.inserts else !givesOldValues

  /** Whether the content is followed step by step. */
  def followsContent: Boolean = output match {
    case Output.Agg | Output.Columns => true
    case Output.Snapshots => !reportsByTrigger
    case _ => false
  }

  /** Whether the window says by itself when its content is to be told. */
  def reportsByTrigger: Boolean = policy.retention.windows.exists(_.triggers.report != Trigger.Never)

  /** Whether the content is told when it leaves as a whole, as windows that tumble and tell
    * events do.
    */
  def reportsWhenEmptied: Boolean = policy.stream.order == StepOrder.Events && !reportsByTrigger

  /** How many of a group's newest rows are all that is asked of a table, where no other row can
    * make a difference, not even by an error.
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

  def rowsWait: Boolean = application.contains(Application.EventTime)
}

object KeepSpec {
  val DefaultMaxRows: Long = 10000000L
  val DefaultMaxContent: Long = 100000L

  /** The newest rows of a group are found on the heap, above all memory that Spark manages. */
  private val MaxNewestRows = 1L << 16
}
