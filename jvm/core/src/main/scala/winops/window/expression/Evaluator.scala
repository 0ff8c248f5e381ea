package winops.window.expression

import winops.policy.{RowExpression, SortKey}

/** Makes a policy's expressions into functions of the rows of the open group, which are named by
  * their ordinals. Who gives it has checked that the expressions fit the rows.
  */
trait Evaluator {

  /** The values of the expressions together: equal bytes mean equal values, null being a value.
    */
  def key(expressions: Seq[RowExpression]): RowKey

  /** The values of the criteria together: bytes that compare, as unsigned numbers from the left,
    * as the rows sort. None is the beginning of another.
    */
  def sortKey(by: Seq[SortKey]): RowKey

  /** A timestamp in milliseconds; numbers are cut to whole ones. */
  def timestamp(expression: RowExpression): RowNumber

  /** A number, or a timestamp in microseconds. */
  def number(expression: RowExpression): RowNumber

  def condition(expression: RowExpression): RowCondition
}

object Evaluator {

  /** For policies without expressions. */
  object None extends Evaluator {
    override def key(expressions: Seq[RowExpression]): RowKey = refused
    override def sortKey(by: Seq[SortKey]): RowKey = refused
    override def timestamp(expression: RowExpression): RowNumber = refused
    override def number(expression: RowExpression): RowNumber = refused
    override def condition(expression: RowExpression): RowCondition = refused

    private def refused: Nothing =
      throw new IllegalArgumentException("nothing evaluates the policy's expressions")
  }
}
