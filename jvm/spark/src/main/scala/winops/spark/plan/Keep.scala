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
  *   the expressions whose distinct values have a window each
  * @param order
  *   the order that the user asked for, within a group
  * @param time
  *   the column that holds a row's event time
  * @param punctuation
  *   the column that marks the stream
  * @param expressionsOfRows
  *   what the policy's expressions mean
  * @param end
  *   on a table, the greatest event time of all rows, at which time stops for every group
  * @param changeColumns
  *   the columns that tell of a change, before those of the row, or all columns of the output
  *   where rows stand in arrays; none if the output is rows
  * @param by
  *   values whose distinct combinations have results of their own
  * @param results
  *   what is computed of the content of a window, over [[WindowAggregate]]s
  * @param followsSource
  *   whether rows that are equal in `order` and `time` have the order of their source; otherwise
  *   they have that of their bytes
  * @param sourcePartition
  *   the column of the child that [[SourcePartitions]] added, which is none of the output's
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

  /** Whether nothing but the source says which row is older. */
  def needsSourceOrder: Boolean = order.isEmpty && !spec.rowsWait

  /** The columns of a row, in the output. */
  def rows: Seq[Attribute] = output.filterNot(AttributeSet(changeColumns).contains)

  override def producedAttributes: AttributeSet = AttributeSet(changeColumns)

  /** A stream stores every column, arrays of rows have all of them, and so have the bytes that
    * order rows, so that none may be pruned away below. Of a table's other rows the columns that
    * nobody reads may.
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

  /** The columns that tell of a change; `_change_time` carries the watermark of `time`. */
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

  /** The column that names the window of a change, where there are several. */
  def windowColumn(policy: Policy): Option[Attribute] = Option.when(policy.windowNames.nonEmpty) {
    AttributeReference(Window, StringType, nullable = false)()
  }

  /** The columns of a snapshot: of a content, with the group whose it is. */
  def snapshotColumns(
      time: Option[Attribute],
      group: Seq[Expression],
      rows: Seq[Attribute]): Seq[Attribute] =
    changeColumns(time).slice(1, 3) ++ groupColumns(group) :+ arrayOf("content", rows)

  /** The columns of an event of a window. */
  def eventColumns(
      time: Option[Attribute],
      group: Seq[Expression],
      rows: Seq[Attribute]): Seq[Attribute] =
    (AttributeReference(EventType, StringType, nullable = false)() +:
      changeColumns(time).slice(1, 3)) ++ groupColumns(group) :+ arrayOf("rows", rows)

  /** The columns of a value of the content, before the results. */
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
    // Rows that come in at once are not older than the watermark.
    case Output.Columns if spec.policy.takesRowsAtOnce => rows ++ changeColumns
    case Output.Columns => rows.map(withoutWatermark) ++ changeColumns
    case Output.Snapshots | Output.Events | Output.Agg | Output.Description => changeColumns
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

  /** A row that is deleted has an old time by nature, so its own column is no event time below.
    */
  def withoutWatermark(attribute: Attribute): Attribute =
    if (attribute.metadata.contains(EventTimeWatermark.delayKey)) {
      attribute.withMetadata(
        new MetadataBuilder()
          .withMetadata(attribute.metadata)
          .remove(EventTimeWatermark.delayKey)
          .build())
    } else attribute

  /** One line of EXPLAIN: the policy as it was meant, then how it is run. */
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
        case Output.Rows => Some("retained rows")
        case Output.Agg if spec.mode != AggMode.All => Some(s"${spec.mode.name} agg")
        case other => Some(other.name)
      })
    parts.flatten.mkString("Keep ", ", ", "")
  }
}
