package winops.spark.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression, ExpressionSet, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan, UnaryNode}
import org.apache.spark.sql.types.MetadataBuilder

import winops.spark.expressions.{PolicyExpression, UnqualifiedSql}
import winops.spark.source.SourceOrder

/** The logical node of a retention window over `child`.
  *
  * @param group
  *   the group key: a window exists for each distinct combination of its values
  * @param order
  *   the order of the rows within a group that the user has given
  * @param time
  *   the event time column
  * @param punctuation
  *   the column that marks punctuation
  * @param expressionsOfRows
  *   the resolved expressions of the policy
  * @param end
  *   on a table, the greatest event time of all rows, at which time stops for every group
  * @param changeColumns
  *   the columns that describe a change, before the columns of the row; all columns of the output
  *   if rows are in arrays; none if the output is rows
  * @param by
  *   expressions whose distinct combinations have results of their own
  * @param results
  *   the computed columns, over [[WindowAggregate]]s
  * @param followsSource
  *   true if rows with equal `order` and `time` have the order of their source; otherwise they
  *   have the order of their bytes
  * @param sourcePartition
  *   the column of the child that [[SourcePartitions]] has added; it is not in the output
  */
final case class Keep(
    spec: KeepSpec,
    group: Seq[Expression],
    order: Seq[SortOrder],
    time: Option[Attribute],
    punctuation: Option[Attribute],
    expressionsOfRows: Seq[PolicyExpression],
    end: Option[Expression],
    changeColumns: Seq[Attribute],
    by: Seq[Expression],
    results: Seq[Expression],
    followsSource: Boolean,
    sourcePartition: Option[Attribute],
    child: LogicalPlan)
    extends UnaryNode {

  override def output: Seq[Attribute] = Keep.output(spec, changeColumns, content)

  override def nodeName: String = Keep.nodeName(spec)

  /** The columns of a row that the window holds. */
  def content: Seq[Attribute] = child.output.filterNot(AttributeSet(sourcePartition).contains)

  /** Returns true if the order of rows depends on their source alone. */
  def needsSourceOrder: Boolean = order.isEmpty && !spec.rowsWait

  /** The columns of the output that come from the input row. */
  def rows: Seq[Attribute] = output.filterNot(AttributeSet(changeColumns).contains)

  override def producedAttributes: AttributeSet = AttributeSet(changeColumns)

  /** A stream stores every column, arrays of rows contain every column, and rows may be ordered
    * by the bytes of all columns, so no column may be pruned below. Other queries over a table
    * allow pruning.
    */
  override lazy val references: AttributeSet = spec.output match {
    case Output.Rows | Output.Changes
        if !isStreaming && followsSource && SourceOrder.of(child).isRight =>
      AttributeSet.fromAttributeSets(expressions.map(_.references)) -- producedAttributes
    case _ => child.outputSet
  }

  /** Conditions that hold for each row of the input hold for stored rows of a table only. The
    * state of a stream may have rows from before a filter was added to the query.
    */
  override protected lazy val validConstraints: ExpressionSet =
    if (isStreaming) ExpressionSet() else child.constraints

  override def simpleString(maxFields: Int): String = Keep.describe(spec, time, results)

  override protected def withNewChildInternal(newChild: LogicalPlan): Keep =
    copy(child = newChild)
}

object Keep {
  val ChangeType = "_change_type"
  val ChangeTime = "_change_time"
  val ChangeStep = "_change_step"
  val ChangeSeq = "_change_seq"
  val ChangeReason = "_change_reason"
  val Window = "_window"
  val EventType = "_event_type"

  /** The columns of the node's rows. */
  def output(
      spec: KeepSpec,
      changeColumns: Seq[Attribute],
      rows: Seq[Attribute]): Seq[Attribute] = spec.output match {
    case Output.Changes | Output.Rows => changeColumns ++ rows.map(withoutWatermark)
    // Rows that the window inserts at once are not older than the watermark.
    case Output.WithColumns if spec.policy.takesRowsAtOnce => rows ++ changeColumns
    case Output.WithColumns => rows.map(withoutWatermark) ++ changeColumns
    // Rows that wait for the rows that follow are older than the watermark when they are emitted.
    case Output.Over if spec.needsFollowing => rows.map(withoutWatermark) ++ changeColumns
    case Output.Over => rows ++ changeColumns
    case Output.Snapshots | Output.Events | Output.Agg | Output.Describe => changeColumns
  }

  /** Removes the watermark from a time column: deletes carry the time of their row, which is
    * older than the watermark.
    */
  def withoutWatermark(attribute: Attribute): Attribute =
    if (attribute.metadata.contains(EventTimeWatermark.delayKey)) {
      attribute.withMetadata(
        new MetadataBuilder()
          .withMetadata(attribute.metadata)
          .remove(EventTimeWatermark.delayKey)
          .build())
    } else attribute

  /** The name of the node in EXPLAIN. */
  def nodeName(spec: KeepSpec): String = if (spec.isOver) "Over" else "Keep"

  /** Describes the node in one line of EXPLAIN: the policy's text or the window functions, then
    * the execution.
    */
  def describe(spec: KeepSpec, time: Option[Attribute], results: Seq[Expression]): String = {
    val parts = Seq(
      Some(if (spec.isOver) functions(results) else s"[${spec.policy.text}]"),
      Option.when(spec.group.nonEmpty)(spec.group.mkString("per [", ", ", "]")),
      Option.when(spec.runsInOneTask)("in one task"),
      Option.when(spec.order.nonEmpty)(spec.order.mkString("order by [", ", ", "]")),
      time.map(t => s"time [${t.name}] applied by ${spec.application.fold("")(_.name)}"),
      Option.when(spec.dropNullTime)("rows without a time dropped"),
      spec.idleMillis.map(millis => s"idle [$millis ms]"),
      Option.when(spec.maxRows != KeepSpec.DefaultMaxRows)(s"at most ${spec.maxRows} rows"),
      spec.punctuation.map(column => s"punctuation [$column]"),
      Option.when(spec.flushesAtEnd)("flushed at the end"),
      Option.when(spec.exactFloats)("every frame folded row by row"),
      spec.output match {
        case Output.Changes | Output.Over => None
        case Output.Agg if spec.mode != AggMode.All =>
          Some(s"output [agg] in mode [${spec.mode.name}]")
        case other => Some(s"output [${other.name}]")
      },
      Option.when(spec.givesReasons)("with reasons"))
    parts.flatten.mkString(s"${nodeName(spec)} ", ", ", "")
  }

  private def functions(results: Seq[Expression]): String =
    results.map(UnqualifiedSql.of).distinct.mkString("[", ", ", "]")
}
