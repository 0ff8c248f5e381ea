package org.apache.spark.sql.winops.checkpoint

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession

import winops.spark.internal.WinopsErrors
import winops.spark.plan.GroupedOperator
import winops.spark.state.StateIdentity

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
    val found = optimized.collect {
      case operator: GroupedOperator if operator.isStreaming =>
        val plan = operator.plan(operator.keys.map(_.toAttribute), Nil)
        RestartedOperator(StateIdentity.of(plan), plan.spec.restart)
    }
    if (found.isEmpty) {
      throw WinopsErrors.argument(
        "VALUE",
        "query",
        "a streaming query with keep or with window functions")
    }
    found
  }
}
