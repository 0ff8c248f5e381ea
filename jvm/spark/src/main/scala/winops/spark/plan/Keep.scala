package winops.spark.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, AttributeSet, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan, UnaryNode}
import org.apache.spark.sql.types._

import winops.policy.Policy
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

  override def simpleString(maxFields: Int): String = Keep.describe(spec, time)

  override protected def withNewChildInternal(newChild: LogicalPlan): Keep =
    copy(child = newChild)
}

object Keep {
  val ChangeType = "_change_type"
  val ChangeTime = "_change_time"
  val ChangeStep = "_change_step"
  val ChangeSeq = "_change_seq"
  val Window = "_window"
  val EventType = "_event_type"

  /** The columns that describe a change; `_change_time` carries the watermark of `time`. */
  def changeColumns(time: Option[Attribute]): Seq[Attribute] = {
    val watermark = time.map(_.metadata).filter(_.contains(EventTimeWatermark.delayKey))
    val timeMetadata = watermark.fold(Metadata.empty) { metadata =>
      new MetadataBuilder()
        .putLong(EventTimeWatermark.delayKey, metadata.getLong(EventTimeWatermark.delayKey))
        .build()
    }
    Seq(
      AttributeReference(ChangeType, StringType, nullable = false)(),
      AttributeReference(ChangeTime, TimestampType, nullable = time.isEmpty, timeMetadata)(),
      AttributeReference(ChangeStep, LongType, nullable = false)(),
      AttributeReference(ChangeSeq, LongType, nullable = false)())
  }

  /** The column with the name of the window of a change, if there are several windows. */
  def windowColumn(policy: Policy): Option[Attribute] = Option.when(policy.windowNames.nonEmpty) {
    AttributeReference(Window, StringType, nullable = false)()
  }

  /** The columns of a snapshot: time, step, group key, and the window contents as an array. */
  def snapshotColumns(
      time: Option[Attribute],
      group: Seq[Expression],
      rows: Seq[Attribute]): Seq[Attribute] =
    changeColumns(time).slice(1, 3) ++ groupColumns(group) :+ arrayOf("content", rows)

  /** The columns of a window event: type, time, step, group key, and its rows as an array. */
  def eventColumns(
      time: Option[Attribute],
      group: Seq[Expression],
      rows: Seq[Attribute]): Seq[Attribute] =
    (AttributeReference(EventType, StringType, nullable = false)() +:
      changeColumns(time).slice(1, 3)) ++ groupColumns(group) :+ arrayOf("rows", rows)

  /** The columns of an `agg` row before the results. */
  def resultColumns(
      time: Option[Attribute],
      group: Seq[Expression],
      mode: AggMode): Seq[Attribute] = {
    val change = changeColumns(time)
    val kind = if (mode == AggMode.Changes) change.take(1) else Nil
    groupColumns(group) ++ kind :+ change(1) :+ change(3)
  }

  def output(
      spec: KeepSpec,
      changeColumns: Seq[Attribute],
      rows: Seq[Attribute]): Seq[Attribute] = spec.output match {
    case Output.Changes | Output.Rows => changeColumns ++ rows.map(withoutWatermark)
    // Rows that the window inserts at once are not older than the watermark.
    case Output.WithColumns if spec.policy.takesRowsAtOnce => rows ++ changeColumns
    case Output.WithColumns => rows.map(withoutWatermark) ++ changeColumns
    case Output.Snapshots | Output.Events | Output.Agg | Output.Describe => changeColumns
  }

  private def groupColumns(group: Seq[Expression]): Seq[Attribute] = group.map { key =>
    val name = key match {
      case column: Attribute => column.name
      case other => UnqualifiedSql.of(other)
    }
    AttributeReference(name, key.dataType, nullable = true)()
  }

  private def arrayOf(name: String, rows: Seq[Attribute]): Attribute = {
    val row = StructType(rows.map(c => StructField(c.name, c.dataType, c.nullable)))
    AttributeReference(name, ArrayType(row, containsNull = false), nullable = false)()
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

  /** Describes the node in one line of EXPLAIN: the policy's text, then the execution. */
  def describe(spec: KeepSpec, time: Option[Attribute]): String = {
    val parts = Seq(
      Some(s"[${spec.policy.text}]"),
      Option.when(spec.group.nonEmpty)(spec.group.mkString("per [", ", ", "]")),
      Option.when(spec.runsInOneTask)("in one task"),
      Option.when(spec.order.nonEmpty)(spec.order.mkString("order by [", ", ", "]")),
      time.map(t => s"time [${t.name}] applied by ${spec.application.fold("")(_.name)}"),
      Option.when(spec.dropNullTime)("rows without a time dropped"),
      spec.idleMillis.map(millis => s"idle [$millis ms]"),
      Option.when(spec.maxRows != KeepSpec.DefaultMaxRows)(s"at most ${spec.maxRows} rows"),
      spec.punctuation.map(column => s"punctuation [$column]"),
      Option.when(spec.flushesAtEnd)("flushed at the end"),
      spec.output match {
        case Output.Changes => None
        case Output.Agg if spec.mode != AggMode.All =>
          Some(s"output [agg] in mode [${spec.mode.name}]")
        case other => Some(s"output [${other.name}]")
      })
    parts.flatten.mkString("Keep ", ", ", "")
  }
}
