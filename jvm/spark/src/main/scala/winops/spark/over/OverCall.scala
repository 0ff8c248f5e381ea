package winops.spark.over

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import winops.spark.internal.WinopsErrors
import winops.spark.plan.FramedFunction

/** The window functions of one [[Window]] over a stream that the operator can run.
  *
  * @param group
  *   the expressions of PARTITION BY
  * @param time
  *   the first column of ORDER BY if it is an event time
  * @param order
  *   the other sort keys of ORDER BY
  * @param functions
  *   the functions, each with the column of its result
  * @param child
  *   the rows
  */
final case class OverCall(
    group: Seq[Expression],
    time: Option[Attribute],
    order: Seq[SortOrder],
    functions: Seq[(FramedFunction, Alias)],
    settings: OverSettings,
    child: LogicalPlan)

/** The reason why a window function cannot run on a stream.
  *
  * @param function
  *   the window function or clause
  * @param reason
  *   the reason
  * @param expected
  *   what to write instead
  */
final case class OverRefusal(function: String, reason: String, expected: String) {

  /** The error that a user sees. */
  def error: AnalysisException = WinopsErrors.analysis(
    "WINOPS_OVER",
    "function" -> function,
    "reason" -> reason,
    "expected" -> expected)
}
