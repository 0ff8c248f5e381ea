package winops.spark

import org.apache.spark.sql.catalyst.expressions.{Expression, FunctionTableSubqueryArgumentExpression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.winops.checkpoint.RestartPlanCall

import winops.spark.analysis.StateArguments
import winops.spark.internal.WinopsErrors

/** The table function `winops_restart_plan(TABLE(query), 'checkpoint', operator => 0)`. Returns
  * the differences between the query of a checkpoint and another query, and what becomes of the
  * state. Nothing is run or changed.
  */
object RestartPlanFunction extends (Seq[Expression] => LogicalPlan) {
  val Name = "winops_restart_plan"

  val Usage: String =
    "_FUNC_(TABLE(query), 'checkpoint', operator => n) - " +
      "Returns what becomes of the state of a checkpoint if the query restarts with it."

  override def apply(expressions: Seq[Expression]): LogicalPlan = expressions.headOption match {
    case Some(query: FunctionTableSubqueryArgumentExpression) =>
      val arguments = new StateArguments(Seq("checkpoint", "operator"), expressions.tail)
      RestartPlanCall(
        arguments.text("checkpoint", "the folder of a checkpoint"),
        arguments.whole("operator", 0),
        query.plan)
    case _ =>
      throw WinopsErrors.argument("MISSING", "query", "TABLE(name) as the first argument")
  }
}
