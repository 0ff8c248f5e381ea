package winops.spark

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, AttributeSet, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan, UnaryNode}
import org.apache.spark.sql.types.{LongType, Metadata, MetadataBuilder, StringType, TimestampType}

/** The logical node of a retention window over `child`.
  *
  * @param group
  *   the expressions whose distinct values have a window each
  * @param order
  *   the order that the user asked for, within a group
  * @param time
  *   the column that holds a row's event time
  * @param end
  *   on a table, the greatest event time of all rows, at which time stops for every group
  * @param changeColumns
  *   the columns that tell of a change, before those of the row; none if the output is rows
  */
final case class Keep(
    spec: KeepSpec,
    group: Seq[Expression],
    order: Seq[SortOrder],
    time: Option[Attribute],
    end: Option[Expression],
    changeColumns: Seq[Attribute],
    child: LogicalPlan)
    extends UnaryNode {

  override def output: Seq[Attribute] = changeColumns ++ child.output.map(Keep.withoutWatermark)

  override def producedAttributes: AttributeSet = AttributeSet(changeColumns)

  /** Every column is stored, so none may be pruned away below. */
  override lazy val references: AttributeSet = child.outputSet

  override def simpleString(maxFields: Int): String = Keep.describe(spec, time)

  override protected def withNewChildInternal(newChild: LogicalPlan): Keep =
    copy(child = newChild)
}

object Keep {
  val ChangeType = "_change_type"
  val ChangeTime = "_change_time"
  val ChangeStep = "_change_step"
  val ChangeSeq = "_change_seq"

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
      Option.when(spec.group.isEmpty)("in one task"),
      Option.when(spec.order.nonEmpty)(spec.order.mkString("order by [", ", ", "]")),
      time.map(t => s"time [${t.name}] applied by ${spec.application.fold("")(_.name)}"),
      Option.when(spec.dropNullTime)("rows without a time dropped"),
      spec.idleMillis.map(millis => s"idle [$millis ms]"),
      Option.when(spec.maxRows != KeepSpec.DefaultMaxRows)(s"at most ${spec.maxRows} rows"),
      Option.when(spec.output == Output.Rows)("retained rows"))
    parts.flatten.mkString("Keep ", ", ", "")
  }

  /** An expression as the user wrote it, without the names that tables got on the way. */
  def sql(expression: Expression): String =
    expression.transform { case column: Attribute => column.withQualifier(Nil) }.sql
}
