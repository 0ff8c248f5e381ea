package org.apache.spark.sql.winops

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, UnsafeProjection}
import org.apache.spark.sql.catalyst.plans.logical.LeafNode
import org.apache.spark.sql.execution.LeafExecNode
import org.apache.spark.sql.types.{DataType, IntegerType, LongType}

/** Writes a new checkpoint with another number of partitions, whenever it is executed.
  *
  * @param from
  *   the folder of the checkpoint, which stays as it is
  * @param to
  *   the folder of the new one
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

/** Does it on the driver, once, when its rows are asked for: analysing a query moves nothing. */
final case class RepartitionStateExec(plan: RepartitionState) extends LeafExecNode {
  override def output: Seq[Attribute] = plan.output

  private lazy val moved: Seq[InternalRow] = {
    val toRow = UnsafeProjection.create(output.map(_.dataType).toArray[DataType])
    val checkpoint =
      new Checkpoint(session, plan.from)
    new CheckpointMove(session, checkpoint, plan.to, plan.partitions).run().map { keep =>
      toRow(InternalRow(keep.operator, keep.partitions, keep.groups, keep.rows)).copy()
    }
  }

  override protected def doExecute(): RDD[InternalRow] = sparkContext.parallelize(moved, 1)
}
