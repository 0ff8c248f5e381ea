package org.apache.spark.sql.winops.checkpoint

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession

import winops.spark.internal.WinopsErrors

/** Replaces the call of `winops_restart_plan` by a relation, after the query in it was resolved.
  *
  * The query is optimized, because the identity of a running query is that of its optimized plan.
  * It is not run.
  */
object ResolveRestartPlan extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case call: RestartPlanCall if call.child.resolved =>
      RestartPlanRelation(call.folder, call.operator, operatorsOf(call.child), call.output)
  }

  private def operatorsOf(query: LogicalPlan): Seq[RestartedOperator] = {
    val optimized = SparkSession.active.sessionState.optimizer.execute(query)
    val found = RestartedOperator.of(optimized)
    if (found.isEmpty) {
      throw WinopsErrors.argument(
        "VALUE",
        "query",
        "a streaming query with keep or with window functions")
    }
    found
  }
}
