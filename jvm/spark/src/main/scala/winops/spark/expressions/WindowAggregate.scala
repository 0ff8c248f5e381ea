package winops.spark.expressions

import org.apache.spark.sql.catalyst.expressions.{Expression, SortOrder, Unevaluable}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction
import org.apache.spark.sql.types.DataType

/** In a condition or a result: an aggregate over the rows in the window. It is no
  * `AggregateExpression`, because Spark has those in its own operators only.
  *
  * @param filter
  *   which rows it is over; all where there is none
  */
final case class WindowAggregate(
    function: AggregateFunction,
    isDistinct: Boolean,
    filter: Option[Expression])
    extends Expression
    with Unevaluable {

  /** The values that DISTINCT compares. An order behind them, as in WITHIN GROUP, is by the same
    * values, and cannot be evaluated.
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
