package winops.spark.expressions

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.winops.internal.WinopsRuntimeException

import winops.policy.RowExpression
import winops.spark.internal.WinopsErrors
import winops.window.expression.{RowCondition, RowKey, RowNumber}

/** Wraps the evaluation of a policy's expressions so that failures show no value of a row: Spark's
  * own messages show what could not be cast or divided.
  */
private[spark] final class RedactingEvaluator(expressions: Seq[RowExpression]) {
  def key(key: RowKey): RowKey = ordinal =>
    try key.of(ordinal)
    catch { case EvaluationFailure(error) => throw failure(error) }

  def condition(condition: RowCondition): RowCondition = view =>
    try condition.holds(view)
    catch { case EvaluationFailure(error) => throw failure(error) }

  def number(number: RowNumber): RowNumber = new RowNumber {
    override def isMissing(ordinal: Long): Boolean =
      try number.isMissing(ordinal)
      catch { case EvaluationFailure(error) => throw failure(error) }

    override def whole(ordinal: Long): Long = number.whole(ordinal)
    override def real(ordinal: Long): Double = number.real(ordinal)
  }

  private def failure(error: SparkThrowable): Throwable =
    RedactingEvaluator.failure(expressions.map(e => RedactingEvaluator.shown(e.sql)).mkString(", "), error)
}

private[spark] object RedactingEvaluator {

  /** The failure that replaces Spark's.
    *
    * @param expression
    *   as it is to be shown
    */
  def failure(expression: String, error: SparkThrowable): WinopsRuntimeException =
    WinopsErrors.runtime(
      "WINOPS_EXPRESSION",
      "expression" -> expression,
      "reason" -> Option(error.getCondition).getOrElse(error.getClass.getSimpleName))

  /** So much of an expression as a message shows. */
  def shown(sql: String): String = sql.take(ShownChars)

  private val ShownChars = 100
}
