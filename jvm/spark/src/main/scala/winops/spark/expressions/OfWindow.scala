package winops.spark.expressions

import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression, Unevaluable}
import org.apache.spark.sql.types.DataType

/** A computed column of one of several windows, given by the number of the window. */
final case class OfWindow(window: Int, child: Expression)
    extends UnaryExpression
    with Unevaluable {
  override def sql: String = s"${child.sql} OF WINDOW $window"
  override def dataType: DataType = child.dataType

  override protected def withNewChildInternal(newChild: Expression): OfWindow =
    copy(child = newChild)
}
