package winops.spark.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}

import winops.policy.Policy
import winops.terms.{StepOrder, Stream}
import winops.window.piece.Never

/** The options of a `keep` call, without resolved columns. Defaults are those of the call.
  *
  * @param dialect
  *   the language of the policy's text
  * @param policy
  *   the parsed policy
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
  * @param emitsReasons
  *   true if each change has the reason for which its row enters or leaves
  * @param operation
  *   the name of the column that says what a row with a primary key does
  * @param emitsUpdates
  *   true if an update is emitted as such, false if it is a delete and an insert
  * @param emitsRowIds
  *   true if each change has the number of its row and a version
  * @param emitsRefused
  *   true if rows are emitted that have no effect
  * @param emitsCorrections
  *   true if an updated row is emitted again with its aggregates
  * @param lookup
  *   the options of the output `lookup`; None for other outputs
  */
final case class KeepSpec(
    dialect: String,
    policy: Policy,
    group: Seq[String],
    order: Seq[String],
    application: Option[Application],
    idleMillis: Option[Long] = None,
    maxRows: Long = OperatorSpec.DefaultMaxRows,
    dropNullTime: Boolean = false,
    punctuation: Option[String] = None,
    output: Output = Output.Changes,
    maxContent: Long = KeepSpec.DefaultMaxContent,
    mode: AggMode = AggMode.All,
    acrossGroups: Boolean = false,
    ofProjection: Boolean = false,
    flushesAtEnd: Boolean = false,
    emitsReasons: Boolean = false,
    operation: Option[String] = None,
    emitsUpdates: Boolean = false,
    emitsRowIds: Boolean = false,
    emitsRefused: Boolean = false,
    emitsCorrections: Boolean = false,
    lookup: Option[LookupOptions] = None,
    override val restart: RestartOptions = RestartOptions())
    extends OperatorSpec {
  override def words: OperatorWords =
    if (lookup.exists(_.ofJoin)) OperatorWords.AsOfJoin else OperatorWords.Keep

  // As in Spark's own joins of tables, a row of the left side that matches nothing is not an error.
  override def emitsNullTime: Boolean =
    lookup.exists(options => options.ofJoin && !options.isInner) && !emitsRefused

  override def nodeName: String = "Keep"
  override def title: String = policy.text

  override def describe(time: Option[Attribute], results: Seq[Expression]): String = described(
    s"[${policy.text}]",
    time,
    Seq(
      punctuation.map(column => s"punctuation [$column]"),
      output match {
        case Output.Changes => None
        case Output.Agg if mode != AggMode.All => Some(s"output [agg] in mode [${mode.name}]")
        case other => Some(s"output [${other.name}]")
      },
      Option.when(emitsReasons)("with reasons"),
      Option.when(policy.isKeyed)(policy.key.map(_.sql).mkString("key [", ", ", "]")),
      operation.map(column => s"operation [$column]"),
      Option.when(policy.buffer > 0L)(s"buffer [${policy.buffer}]"),
      Option.when(emitsUpdates)("with updates"),
      Option.when(emitsRowIds)("with row numbers"),
      Option.when(emitsRefused)("with refused rows"),
      Option.when(emitsCorrections)("with corrections"),
      Option.when(lookup.exists(_.before))("before the time of a row"),
      Option.when(lookup.exists(_.isInner))("inner")).flatten)

  // A row of a window that is neither applied nor emitted would be lost, and whether a row that
  // waits exceeds the limit depends on the micro-batches.
  override def failsOnRefused: Boolean = !emitsRefused || lookup.isDefined

  override def dropsNullTime(isAsking: Boolean): Boolean =
    dropNullTime || isAsking && emitsRefused

  /** Returns true if the window itself limits the rows of a group to `maxRows`. */
  def isBounded: Boolean = policy.mostRows.exists(_ <= maxRows)

  /** The number of windows of a group. */
  def windows: Int = Math.max(1, policy.windowNames.size)

  def usesTime: Boolean = policy.usesTime || idleMillis.isDefined

  override def isCrossGroup: Boolean =
    group.nonEmpty && (policy.isCrossGroup || punctuation.isDefined || acrossGroups)

  /** The changes that the machine emits. Tracked contents need all of them. */
  def stream: Stream =
    if (followsContent) policy.stream.copy(inserts = true, deletes = true) else policy.stream

  /** Returns true if only steps that change the number of rows emit values. */
  def postsOnSizeChange: Boolean = ofProjection && policy.projection.exists(_.postsOnSizeChange)

  /** Returns true if `agg` emits the values before a step: in the mode `changes` if the policy
    * emits deletes, and otherwise for a statement that selects deletes only.
    */
  def emitsOldValues: Boolean = output == Output.Agg && (mode match {
    case AggMode.Changes => policy.stream.deletes
    case _ => ofProjection && !policy.stream.inserts
  })

  /** Returns true if `agg` emits the values after a step. */
  def emitsNewValues: Boolean =
    if (mode == AggMode.Changes) policy.stream.inserts else !emitsOldValues

  /** Returns true if the window contents are tracked step by step. */
  def followsContent: Boolean = output match {
    case Output.Agg | Output.WithColumns | Output.Lookup => true
    case Output.Snapshots => !reportsByTrigger
    case _ => false
  }

  /** Returns true if a row of the output `lookup` has the rows of the window. */
  def emitsContents: Boolean = lookup.exists(_.contents.isDefined)

  /** Returns true if the window itself has a trigger for reports. */
  def reportsByTrigger: Boolean =
    policy.retention.windows.exists(_.triggers.report != Never)

  /** Returns true if the contents are reported just before they are evicted, as tumbling windows
    * with the step order `Events` do.
    */
  def reportsWhenEmptied: Boolean = policy.stream.order == StepOrder.Events && !reportsByTrigger

  override def newestRows: Option[Int] = {
    val decidesAlone = output == Output.Rows && !isCrossGroup && punctuation.isEmpty &&
      idleMillis.isEmpty
    val findsNullTimes = application.forall(_ == Application.EventTime && !dropNullTime)
    policy.newestRows
      .filter(rows => decidesAlone && findsNullTimes && rows < maxRows)
      .filter(_ <= KeepSpec.MaxNewestRows)
      .map(_.toInt)
  }
}

object KeepSpec {
  val DefaultMaxContent: Long = 100000L

  /** Returns true if the changes of a window over all keys are those of a window for each key, so
    * that the policy may be split by key. In the order of arrival, the clock of a smaller group
    * would not advance with the rows of other keys. With punctuation, groups depend on each
    * other.
    */
  def maySplit(application: Option[Application], punctuation: Option[String]): Boolean =
    application.forall(_.isInOrder) && punctuation.isEmpty

  /** The maximum for the newest-rows shortcut, which holds rows on the heap, beyond Spark's
    * memory management.
    */
  private val MaxNewestRows = 1L << 16
}
