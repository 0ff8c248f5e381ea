package winops.spark.analysis

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/** A call of `keep` before the analyzer has resolved its PARTITION BY and ORDER BY expressions.
  *
  * @param partitionBy
  *   expressions of PARTITION BY
  * @param orderBy
  *   sort keys of ORDER BY
  * @param child
  *   the table
  */
final case class UnresolvedKeep(
    arguments: Arguments,
    partitionBy: Seq[Expression],
    orderBy: Seq[SortOrder],
    child: LogicalPlan)
    extends UnaryNode {
  override lazy val resolved: Boolean = false
  override def output: Seq[Attribute] = Nil

  override protected def withNewChildInternal(newChild: LogicalPlan): UnresolvedKeep =
    copy(child = newChild)
}
