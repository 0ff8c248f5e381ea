package winops.spark.analysis

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{BinaryNode, LogicalPlan}

/** A call of `asof_join` before it becomes a lookup. Whether a side has the order of a source
  * depends on the WITH clause of the query, which the function itself does not see.
  *
  * @param arguments
  *   the named arguments
  */
final case class UnresolvedAsOf(
    arguments: Map[String, Expression],
    left: LogicalPlan,
    right: LogicalPlan)
    extends BinaryNode {
  override lazy val resolved: Boolean = false
  override def output: Seq[Attribute] = Nil

  override protected def withNewChildrenInternal(
      newLeft: LogicalPlan,
      newRight: LogicalPlan): UnresolvedAsOf = copy(left = newLeft, right = newRight)
}
