package winops.spark

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, NamedExpression, UnaryExpression, Unevaluable}
import org.apache.spark.sql.types.DataType

/** What is computed of the rows in a window.
  *
  * @param by
  *   values whose distinct combinations have aggregates of their own; none for one of all rows
  * @param columns
  *   what comes out, over AggregateExpressions, `by`, and OfLastArrival
  */
final case class Aggregates(by: Seq[NamedExpression], columns: Seq[NamedExpression]) {

  /** Without the columns that have the name of a column that stands there anyway. */
  def without(others: Seq[Expression]): Aggregates = {
    val names = others.collect { case other: Attribute => other.name }
    copy(columns = columns.filterNot(column => names.contains(column.name)))
  }
}

/** What is computed of one of several windows, by its number. */
final case class OfWindow(window: Int, child: Expression)
    extends UnaryExpression
    with Unevaluable {
  override def sql: String = s"${child.sql} OF WINDOW $window"
  override def dataType: DataType = child.dataType

  override protected def withNewChildInternal(newChild: Expression): OfWindow =
    copy(child = newChild)
}

/** The value of `child` over the row that came in last, also when it has left. */
final case class OfLastArrival(child: Expression) extends UnaryExpression with Unevaluable {

  /** No row may have come in. */
  override def nullable: Boolean = true

  override def dataType: DataType = child.dataType

  override protected def withNewChildInternal(newChild: Expression): OfLastArrival =
    copy(child = newChild)
}
