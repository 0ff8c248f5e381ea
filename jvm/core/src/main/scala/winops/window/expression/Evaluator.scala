package winops.window.expression

import winops.terms.{RowExpression, SortKey}

/** Compiles a policy's expressions into functions of the rows of the open group, which are
  * addressed by ordinal. The provider has checked that the expressions fit the rows.
  */
trait Evaluator {

  /** A key over the values of all expressions. Equal bytes mean equal values; null equals null.
    */
  def key(expressions: Seq[RowExpression]): RowKey

  /** A key over the values of all sort criteria. Keys compare as unsigned bytes in the sort order
    * of the rows. No key is a prefix of another.
    */
  def sortKey(by: Seq[SortKey]): RowKey

  /** A timestamp in milliseconds; numbers are truncated to whole milliseconds. */
  def timestamp(expression: RowExpression): RowNumber

  /** A number, or a timestamp in microseconds. */
  def number(expression: RowExpression): RowNumber

  def condition(expression: RowExpression): RowCondition
}

object Evaluator {

  /** An evaluator for policies without expressions; every method fails. */
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
