package winops.spark.expressions

import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression, Unevaluable}
import org.apache.spark.sql.types.DataType

import winops.terms.RowExpression

/** An expression of a policy, resolved over the columns of a row. Plans carry it like any other
  * expression, so that it follows renamed columns. Only a [[RowEvaluator]] evaluates it.
  *
  * @param role
  *   the purpose of the expression
  * @param source
  *   the expression in the policy
  * @param child
  *   the resolved expression
  */
final case class PolicyExpression(role: Role, source: RowExpression, child: Expression)
    extends UnaryExpression
    with Unevaluable {
  override def dataType: DataType = child.dataType

  override protected def withNewChildInternal(newChild: Expression): PolicyExpression =
    copy(child = newChild)
}
