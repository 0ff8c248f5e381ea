package winops.spark.analysis

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/** A call of `keep` whose PARTITION BY and ORDER BY the analyzer has still to resolve. */
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
