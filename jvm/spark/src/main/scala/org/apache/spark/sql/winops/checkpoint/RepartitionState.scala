package org.apache.spark.sql.winops.checkpoint

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.types.{IntegerType, LongType}

/** Writes a new checkpoint with another number of partitions.
  *
  * @param partitions
  *   the new number of partitions
  */
final case class RepartitionState(
    from: String,
    to: String,
    partitions: Int,
    output: Seq[Attribute] = RepartitionState.columns)
    extends MovedCheckpoint {
  override def simpleString(maxFields: Int): String = s"RepartitionState to $partitions"

  override private[checkpoint] def change: StateChange = NewPartitions(partitions)

  override private[checkpoint] def row(keep: MovedKeep): InternalRow =
    InternalRow(keep.operator, keep.partitions, keep.groups, keep.rows)
}

object RepartitionState {
  private def columns: Seq[Attribute] = Seq(
    AttributeReference("operator", LongType, nullable = false)(),
    AttributeReference("partitions", IntegerType, nullable = false)(),
    AttributeReference("groups", LongType, nullable = false)(),
    AttributeReference("rows", LongType, nullable = false)())
}
