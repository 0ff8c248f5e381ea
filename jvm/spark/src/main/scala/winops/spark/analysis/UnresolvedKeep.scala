package winops.spark.analysis

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.internal.SQLConf

import winops.spark.internal.WinopsErrors

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

object UnresolvedKeep {

  /** Returns the call with these arguments. Throws an error if the table does not have a column
    * of PARTITION BY or ORDER BY.
    */
  def of(expressions: Seq[Expression]): UnresolvedKeep = {
    val arguments = new Arguments(expressions)
    val table = arguments.table
    val named = Seq(
      "PARTITION BY (per= in Python)" -> table.partitionByExpressions,
      "ORDER BY (order_by= in Python)" -> table.orderByExpressions)
    for {
      (clause, keys) <- named
      column <- keys.flatMap(_.collect { case column: UnresolvedAttribute => column })
      if table.plan.resolve(column.nameParts, SQLConf.get.resolver).isEmpty
    } throw WinopsErrors.unknownColumn(clause, column.name, table.plan.output)
    UnresolvedKeep(arguments, table.partitionByExpressions, table.orderByExpressions, table.plan)
  }
}
