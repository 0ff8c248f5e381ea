package winops.spark.plan

import org.apache.spark.sql.catalyst.expressions.{AggregateWindowFunction, Expression, Unevaluable}
import org.apache.spark.sql.types.DataType

import winops.spark.expressions.WindowAggregate

/** A function such as `row_number`, of which Spark accepts no call outside its own operator.
  *
  * @param function
  *   the function, which is no child of this expression, but whose arguments are
  * @param keys
  *   the number of sort keys of a rank that runs in the order of more, which its SQL does not
  *   show
  */
final case class PositionFunction(function: AggregateWindowFunction, keys: Option[Int] = None)
    extends Expression
    with Unevaluable {

  /** The function as an aggregate to which rows are added. */
  def aggregate: WindowAggregate = WindowAggregate(function, isDistinct = false, None)

  override def children: Seq[Expression] = function.children
  override def sql: String = function.sql + keys.fold("")(FrameBound.textOfKeys)
  override def nullable: Boolean = true
  override def dataType: DataType = function.dataType

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]): PositionFunction =
    copy(function = function.withNewChildren(newChildren).asInstanceOf[AggregateWindowFunction])
}
