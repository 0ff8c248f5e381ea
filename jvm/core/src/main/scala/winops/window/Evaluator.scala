package winops.window

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

/** Bytes that stand for a row. */
trait RowKey {
  def of(ordinal: Long): Array[Byte]
}

/** A number that a row has or has not. */
trait RowNumber {

  /** Whether the row has none: null, or not a number. */
  def isMissing(ordinal: Long): Boolean

  /** The number, of a kind that is whole. */
  def whole(ordinal: Long): Long

  /** The number, as a floating-point one. */
  def real(ordinal: Long): Double
}

/** A condition on a row and the window it is in. */
trait RowCondition {

  /** Whether the condition is true; null is false. */
  def holds(view: WindowView): Boolean
}

/** What a condition sees. */
trait WindowView {

  /** The row whose columns the condition means when it names them alone. */
  def examined: Long

  def oldest: Long
  def newest: Long

  /** When the oldest row arrived, in milliseconds. */
  def oldestArrival: Long

  /** When the newest row arrived, in milliseconds. */
  def newestArrival: Long

  /** How many rows are in the window. */
  def count: Long

  /** How many rows have been removed since the last row arrived. */
  def expired: Long

  /** The row in the window after `ordinal`; [[WindowView.NoRow]] after the newest. With `NoRow`
    * it is the oldest.
    */
  def after(ordinal: Long): Long
}

object WindowView {
  val NoRow: Long = -1L
}
