package winops.spark.plan

import org.apache.spark.sql.catalyst.expressions.{AggregateWindowFunction, Expression, Unevaluable}
import org.apache.spark.sql.types.DataType

import winops.spark.expressions.WindowAggregate

/** A function such as `row_number`, of which Spark accepts no call outside its own operator.
  *
  * @param function
  *   the function, which is no child of this expression, but whose arguments are
  */
final case class PositionFunction(function: AggregateWindowFunction)
    extends Expression
    with Unevaluable {

  /** The function as an aggregate to which rows are added. */
  def aggregate: WindowAggregate = WindowAggregate(function, isDistinct = false, None)

  override def children: Seq[Expression] = function.children
  override def sql: String = function.sql
  override def nullable: Boolean = true
  override def dataType: DataType = function.dataType

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]): PositionFunction =
    copy(function.withNewChildren(newChildren).asInstanceOf[AggregateWindowFunction])
}
