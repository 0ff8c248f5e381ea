package winops.spark.execution

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

/** Passes rows on, and keeps the plan above it from being equal to any other plan.
  *
  * Spark replaces equal exchanges of a query by one. It finds no watermark below a replaced
  * exchange, so of several stateful operators over one stream only some would see time pass.
  *
  * @param unique
  *   a number that no other such node has
  */
final case class UnsharedExec(unique: Long, child: SparkPlan) extends UnaryExecNode {
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering
  override protected def doExecute(): RDD[InternalRow] = child.execute()

  override protected def withNewChildInternal(newChild: SparkPlan): UnsharedExec =
    copy(child = newChild)
}
