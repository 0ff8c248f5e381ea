package org.apache.spark.sql.winops.checkpoint

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection}
import org.apache.spark.sql.execution.LeafExecNode
import org.apache.spark.sql.types.DataType

/** Writes a checkpoint on the driver, once, on execution and not on analysis. */
final case class MovedCheckpointExec(plan: MovedCheckpoint) extends LeafExecNode {
  override def output: Seq[Attribute] = plan.output

  private lazy val moved: Seq[InternalRow] = {
    val toRow = UnsafeProjection.create(output.map(_.dataType).toArray[DataType])
    val checkpoint =
      new Checkpoint(session, plan.from)
    new CheckpointMove(session, checkpoint, plan.to, plan.change).run().map { keep =>
      toRow(plan.row(keep)).copy()
    }
  }

  override protected def doExecute(): RDD[InternalRow] = sparkContext.parallelize(moved, 1)
}
