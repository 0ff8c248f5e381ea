package winops.spark.expressions

import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression, Unevaluable}
import org.apache.spark.sql.types.DataType

/** What is computed of one of several windows, by its number. */
final case class OfWindow(window: Int, child: Expression)
    extends UnaryExpression
    with Unevaluable {
  override def sql: String = s"${child.sql} OF WINDOW $window"
  override def dataType: DataType = child.dataType

  override protected def withNewChildInternal(newChild: Expression): OfWindow =
    copy(child = newChild)
}
