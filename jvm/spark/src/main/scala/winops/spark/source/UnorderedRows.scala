package winops.spark.source

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.execution.adaptive.LogicalQueryStage

/** Rows whose order among each other has no effect, such as those that read windows.
  *
  * A union of them and of ordered rows has the order of the ordered rows, also if these rows come
  * from an operator without one. The node keeps its place in the optimized plan, so that the
  * order of the union is the same in each micro-batch.
  */
final case class UnorderedRows(child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): UnorderedRows =
    copy(child = newChild)
}

private[spark] object UnorderedRows {

  /** Returns true if a node is one of these. Adaptive execution plans a query anew after a
    * shuffle below, and then replaces the node by the stage that computes its rows.
    */
  @tailrec
  def isAt(plan: LogicalPlan): Boolean = plan match {
    case _: UnorderedRows => true
    case stage: LogicalQueryStage => isAt(stage.logicalPlan)
    case _ => false
  }
}
