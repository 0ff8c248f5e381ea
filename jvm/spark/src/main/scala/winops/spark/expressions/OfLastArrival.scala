package winops.spark.expressions

import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression, Unevaluable}
import org.apache.spark.sql.types.DataType

/** The value of `child` for the most recently inserted row, even after its eviction. */
final case class OfLastArrival(child: Expression) extends UnaryExpression with Unevaluable {

  /** Always true, because the value is null before the first row. */
  override def nullable: Boolean = true

  override def dataType: DataType = child.dataType

  override protected def withNewChildInternal(newChild: Expression): OfLastArrival =
    copy(child = newChild)
}
