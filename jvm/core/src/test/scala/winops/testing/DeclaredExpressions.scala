package winops.testing

import winops.policy.Policy
import winops.terms.{RowExpression, SortKey}
import winops.window.expression.{Evaluator, RowCondition, RowKey, RowNumber}

/** Evaluates the expressions that the pieces of a policy say they read, and fails for others, for
  * which a query would have no value.
  */
private[testing] final class DeclaredExpressions(policy: Policy, of: Evaluator)
    extends Evaluator {
  private val declared = policy.retention.windows.flatMap(_.reads).map(_._2).toSet

  override def key(expressions: Seq[RowExpression]): RowKey = of.key(expressions.map(known))
  override def sortKey(by: Seq[SortKey]): RowKey = {
    by.foreach(key => known(key.expression))
    of.sortKey(by)
  }
  override def timestamp(expression: RowExpression): RowNumber = of.timestamp(known(expression))
  override def number(expression: RowExpression): RowNumber = of.number(known(expression))
  override def condition(expression: RowExpression): RowCondition =
    of.condition(known(expression))

  private def known(expression: RowExpression): RowExpression = {
    require(declared(expression), s"no piece of ${policy.text} reads ${expression.sql}")
    expression
  }
}
