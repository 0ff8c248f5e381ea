package winops.spark.plan

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeSet, Expression, ExpressionSet, NamedExpression, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan}
import org.apache.spark.sql.types.MetadataBuilder
import org.apache.spark.sql.winops.internal.Catalyst

import winops.spark.expressions.PolicyExpression
import winops.spark.row.KeyTypes
import winops.spark.source.{SourceOrder, WithHistory}

/** The logical node of an operator that processes the rows of each group in order. */
sealed trait GroupedOperator extends StatefulNode {
  def spec: OperatorSpec

  /** The group key: the operator works on each distinct combination of its values. */
  def group: Seq[Expression]

  /** The order of the rows within a group that the user has given, behind the time. */
  def order: Seq[SortOrder]

  /** The event time column. */
  def time: Option[Attribute]

  /** The columns that the operator makes. */
  def changeColumns: Seq[Attribute]

  /** The computed columns, as expressions that the operator evaluates. */
  def results: Seq[Expression]

  /** True if rows with equal `order` and `time` have the order of their source; otherwise they
    * have the order of their bytes.
    */
  def followsSource: Boolean

  /** The column of the child that [[SourcePartitions]] has added; it is not in the output. */
  def sourcePartition: Option[Attribute]

  /** The plan of the operator.
    *
    * @param keys
    *   the columns of [[keys]]
    * @param positions
    *   the columns that order the rows of a micro-batch as their source does
    * @param ofHistory
    *   the column that is true for rows of a table before the stream
    */
  def plan(
      keys: Seq[Attribute],
      positions: Seq[Attribute],
      ofHistory: Option[Attribute] = None): OperatorPlan

  /** The table whose rows the operator processes before those of the stream. */
  def history: Option[WithHistory] = child match {
    case history: WithHistory => Some(history)
    case _ => None
  }

  override def nodeName: String = spec.nodeName

  override def simpleString(maxFields: Int): String = spec.describe(time, results)

  override def producedAttributes: AttributeSet = AttributeSet(changeColumns)

  /** The columns of a row that the operator stores. */
  def content: Seq[Attribute] = child.output.filterNot(AttributeSet(sourcePartition).contains)

  /** The columns of the output that come from the input row. */
  def rows: Seq[Attribute] = output.filterNot(AttributeSet(changeColumns).contains)

  /** The group key as columns; a key that is no column becomes a computed one, new at each call.
    */
  def keys: Seq[NamedExpression] = group.zipWithIndex.map { case (expression, i) =>
    KeyTypes.normalized(expression) match {
      case attribute: Attribute => attribute
      case other => Alias(other, s"_group_$i")()
    }
  }

  /** Conditions that hold for each row of the input hold for stored rows of a table only. The
    * state of a stream may have rows from before a filter was added to the query.
    */
  override protected lazy val validConstraints: ExpressionSet =
    if (isStreaming) ExpressionSet() else child.constraints
}

object GroupedOperator {

  /** Removes the watermark from a time column: the output has rows whose time is older than the
    * watermark.
    */
  def withoutWatermark(attribute: Attribute): Attribute =
    if (attribute.metadata.contains(EventTimeWatermark.delayKey)) {
      attribute.withMetadata(
        new MetadataBuilder()
          .withMetadata(attribute.metadata)
          .remove(EventTimeWatermark.delayKey)
          .build())
    } else attribute
}

/** The logical node of a retention window over `child`.
  *
  * @param punctuation
  *   the column that marks punctuation
  * @param operation
  *   the column that says what a row with a primary key does; it is not in the output of the call
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
  * @param asking
  *   the column of the child with the row of another input that reads the windows, as a struct;
  *   NULL in rows of the windows
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
    child: LogicalPlan,
    operation: Option[Attribute] = None,
    asking: Option[Attribute] = None)
    extends GroupedOperator {

  override def output: Seq[Attribute] = Keep.output(spec, changeColumns, content)

  /** The columns of the input row that the call has in its output. */
  def shownRows: Seq[Attribute] = rows.filterNot(AttributeSet(operation).contains)

  /** A stream stores every column, arrays of rows contain every column, and rows may be ordered
    * by the bytes of all columns, so no column may be pruned below. Other queries over a table
    * allow pruning.
    */
  override lazy val references: AttributeSet = spec.output match {
    case Output.Rows | Output.Changes | Output.Lookup
        if !isStreaming && followsSource && !spec.emitsContents &&
          SourceOrder.of(child).isRight =>
      AttributeSet.fromAttributeSets(expressions.map(_.references)) -- producedAttributes
    case _ => child.outputSet
  }

  override def plan(
      keys: Seq[Attribute],
      positions: Seq[Attribute],
      ofHistory: Option[Attribute]): KeepPlan = KeepPlan(
    spec = spec,
    keys = keys,
    groupExpressions = group.map(KeyTypes.normalized),
    shownKeys =
      if (group.map(_.dataType).forall(KeyTypes.areShown)) Nil
      else group.map(Catalyst.normalizeFloatingNumbers),
    expressions = expressionsOfRows,
    punctuation = punctuation,
    order = order,
    time = time,
    changeColumns = changeColumns,
    by = by,
    results = results,
    content = content,
    sourcePartition = sourcePartition,
    positions = positions,
    ofHistory = ofHistory,
    operation = operation,
    asking = asking)

  override protected def withNewChildInternal(newChild: LogicalPlan): Keep =
    copy(child = newChild)
}

object Keep {
  val ChangeType = "_change_type"
  val ChangeTime = "_change_time"
  val ChangeStep = "_change_step"
  val ChangeSeq = "_change_seq"
  val ChangeReason = "_change_reason"
  val ChangeRow = "_change_row"
  val ChangeVersion = "_change_version"
  val Window = "_window"
  val EventType = "_event_type"

  /** The column with the row that looks windows up. It is not in the output. */
  private[spark] val Lookup = "_lookup"

  /** The columns of the node's rows. */
  def output(
      spec: KeepSpec,
      changeColumns: Seq[Attribute],
      rows: Seq[Attribute]): Seq[Attribute] = spec.output match {
    case Output.Changes | Output.Rows =>
      changeColumns ++ rows.map(GroupedOperator.withoutWatermark)
    // Rows that the window inserts at once are not older than the watermark.
    case Output.WithColumns if spec.policy.takesRowsAtOnce => rows ++ changeColumns
    case Output.WithColumns => rows.map(GroupedOperator.withoutWatermark) ++ changeColumns
    case Output.Snapshots | Output.Events | Output.Agg | Output.Lookup | Output.Describe =>
      changeColumns
  }
}

/** The logical node of window functions over the rows of a stream.
  *
  * @param changeColumns
  *   the columns of the results, behind those of the row
  * @param results
  *   the window functions, each a [[FramedFunction]]
  */
final case class Over(
    spec: OverSpec,
    group: Seq[Expression],
    order: Seq[SortOrder],
    time: Option[Attribute],
    changeColumns: Seq[Attribute],
    results: Seq[Expression],
    followsSource: Boolean,
    sourcePartition: Option[Attribute],
    child: LogicalPlan)
    extends GroupedOperator {

  override def output: Seq[Attribute] = OverPlan.output(content, results, changeColumns)

  /** Returns true if rows wait for the rows that follow. */
  def needsFollowing: Boolean = OverPlan.needsFollowing(results)

  // The rows of a stream are stored whole until their results are known.
  override lazy val references: AttributeSet = child.outputSet

  override def plan(
      keys: Seq[Attribute],
      positions: Seq[Attribute],
      ofHistory: Option[Attribute]): OverPlan = OverPlan(
    spec = spec,
    keys = keys,
    groupExpressions = group.map(KeyTypes.normalized),
    order = order,
    time = time,
    changeColumns = changeColumns,
    results = results,
    content = content,
    sourcePartition = sourcePartition,
    positions = positions,
    ofHistory = ofHistory)

  override protected def withNewChildInternal(newChild: LogicalPlan): Over =
    copy(child = newChild)
}
