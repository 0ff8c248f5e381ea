package org.apache.spark.sql.winops.checkpoint

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.catalyst.plans.logical.LeafNode
import org.apache.spark.sql.types.{IntegerType, LongType}

/** Writes a new checkpoint with another number of partitions, each time it is executed.
  *
  * @param from
  *   the folder of the existing checkpoint, which is not changed
  * @param to
  *   the folder of the new checkpoint
  * @param partitions
  *   the new number of partitions
  */
final case class RepartitionState(
    from: String,
    to: String,
    partitions: Int,
    output: Seq[Attribute] = RepartitionState.columns)
    extends LeafNode {
  override def simpleString(maxFields: Int): String = s"RepartitionState to $partitions"
}

object RepartitionState {
  private def columns: Seq[Attribute] = Seq(
    AttributeReference("operator", LongType, nullable = false)(),
    AttributeReference("partitions", IntegerType, nullable = false)(),
    AttributeReference("groups", LongType, nullable = false)(),
    AttributeReference("rows", LongType, nullable = false)())
}
