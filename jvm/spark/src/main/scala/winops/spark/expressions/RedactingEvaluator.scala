package winops.spark.expressions

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.winops.internal.WinopsRuntimeException

import winops.spark.internal.WinopsErrors
import winops.terms.RowExpression
import winops.window.expression.{RowCondition, RowKey, RowNumber}

/** Wraps the evaluation of a policy's expressions and redacts failures. Spark's own messages
  * contain the value that could not be cast or divided.
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
    RedactingEvaluator.failure(
      expressions.map(e => RedactingEvaluator.shown(e.sql)).mkString(", "),
      error)
}

private[spark] object RedactingEvaluator {

  /** Creates the error that replaces Spark's.
    *
    * @param expression
    *   the expression as the message shows it
    * @param error
    *   the failure; the message contains its condition only
    */
  def failure(expression: String, error: SparkThrowable): WinopsRuntimeException =
    WinopsErrors.runtime(
      "WINOPS_EXPRESSION",
      "expression" -> expression,
      "reason" -> Option(error.getCondition).getOrElse(error.getClass.getSimpleName))

  /** Truncates an expression for an error message. */
  def shown(sql: String): String = sql.take(ShownChars)

  private val ShownChars = 100
}
