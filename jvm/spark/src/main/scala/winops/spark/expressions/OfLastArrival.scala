package winops.spark.expressions

import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression, Unevaluable}
import org.apache.spark.sql.types.DataType

/** The value of `child` over the row that came in last, also when it has left. */
final case class OfLastArrival(child: Expression) extends UnaryExpression with Unevaluable {

  /** No row may have come in. */
  override def nullable: Boolean = true

  override def dataType: DataType = child.dataType

  override protected def withNewChildInternal(newChild: Expression): OfLastArrival =
    copy(child = newChild)
}
