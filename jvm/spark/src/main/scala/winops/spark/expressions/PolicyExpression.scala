package winops.spark.expressions

import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression, Unevaluable}
import org.apache.spark.sql.types.DataType

import winops.policy.RowExpression

/** An expression of a policy with its meaning over the columns of a row. Plans carry it as they
  * carry any expression, so that it follows when they rename columns; only a [[RowEvaluator]]
  * evaluates it.
  *
  * @param source
  *   the expression as the policy has it
  * @param child
  *   its meaning
  */
final case class PolicyExpression(role: Role, source: RowExpression, child: Expression)
    extends UnaryExpression
    with Unevaluable {
  override def dataType: DataType = child.dataType

  override protected def withNewChildInternal(newChild: Expression): PolicyExpression =
    copy(child = newChild)
}
