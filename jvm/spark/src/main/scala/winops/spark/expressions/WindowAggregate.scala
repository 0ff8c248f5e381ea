package winops.spark.expressions

import org.apache.spark.sql.catalyst.expressions.{Expression, SortOrder, Unevaluable}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction
import org.apache.spark.sql.types.DataType

/** An aggregate over the rows in the window, within a condition or a result. It is not an
  * `AggregateExpression`, because Spark accepts those in its own operators only.
  *
  * @param function
  *   the aggregate function
  * @param isDistinct
  *   true for an aggregate with DISTINCT
  * @param filter
  *   the condition of the rows to aggregate; None for all rows
  */
final case class WindowAggregate(
    function: AggregateFunction,
    isDistinct: Boolean,
    filter: Option[Expression])
    extends Expression
    with Unevaluable {

  /** The values that DISTINCT compares. Sort orders, as of WITHIN GROUP, are excluded: they sort
    * by the same values and cannot be evaluated.
    */
  def distinctValues: Seq[Expression] = function.children.filterNot(_.isInstanceOf[SortOrder])

  override def children: Seq[Expression] = function +: filter.toSeq
  override def sql: String =
    function.sql(isDistinct) + filter.fold("")(condition => s" FILTER (WHERE ${condition.sql})")
  override def nullable: Boolean = function.nullable
  override def dataType: DataType = function.dataType

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]): WindowAggregate =
    copy(
      function = newChildren.head.asInstanceOf[AggregateFunction],
      filter = newChildren.tail.headOption)
}
