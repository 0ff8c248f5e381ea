package winops.spark

import org.apache.spark.sql.catalyst.expressions.{Expression, NamedExpression, UnaryExpression, Unevaluable}
import org.apache.spark.sql.types.DataType

/** What is computed of the rows in a window.
  *
  * @param by
  *   values whose distinct combinations have aggregates of their own; none for one of all rows
  * @param columns
  *   what comes out, over aggregates, `by`, and [[OfLastArrival]]
  */
final case class Aggregates(by: Seq[NamedExpression], columns: Seq[NamedExpression])

/** The value of `child` over the row that came in last, also when it has left. */
final case class OfLastArrival(child: Expression) extends UnaryExpression with Unevaluable {
  override def nullable: Boolean = true
  override def dataType: DataType = child.dataType

  override protected def withNewChildInternal(newChild: Expression): OfLastArrival =
    copy(child = newChild)
}
