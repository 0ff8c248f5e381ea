package winops.spark.plan

import org.apache.spark.sql.catalyst.expressions.{BinaryExpression, Expression, Unevaluable}
import org.apache.spark.sql.types.DataType

/** The value of `lag` and `lead`: an expression on the row at a fixed distance.
  *
  * @param left
  *   the expression
  * @param right
  *   the value, of the current row, if there is no such row
  * @param offset
  *   the distance; negative for rows before the current row
  * @param ignoreNulls
  *   true if only rows count whose value is not null
  */
final case class OffsetValue(
    left: Expression,
    right: Expression,
    offset: Int,
    ignoreNulls: Boolean)
    extends BinaryExpression
    with Unevaluable {
  override def nullable: Boolean = true
  override def dataType: DataType = left.dataType

  override def sql: String = {
    val name = if (offset > 0) "lead" else "lag"
    val nulls = if (ignoreNulls) " IGNORE NULLS" else ""
    s"$name(${left.sql}, ${Math.abs(offset.toLong)}, ${right.sql})$nulls"
  }

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression): OffsetValue = copy(left = newLeft, right = newRight)
}
