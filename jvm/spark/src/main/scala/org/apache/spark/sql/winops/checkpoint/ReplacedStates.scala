package org.apache.spark.sql.winops.checkpoint

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.state.OperatorStateMetadataV2
import org.apache.spark.sql.winops.execution.StatefulKeepExec

import winops.spark.plan.GroupedOperator
import winops.spark.source.{ReplacedState, WithHistory}
import winops.spark.state.StateIdentity

/** The state of a checkpoint that a query replaces by the rows of a table.
  *
  * @param operator
  *   the operator, in the plan that was searched
  * @param plan
  *   the hash of the plan of the restart
  * @param state
  *   what the query takes over from the state
  */
final case class ReplacedStates private (
    operator: GroupedOperator,
    plan: String,
    state: ReplacedState)

object ReplacedStates {

  /** Finds the operators of a query whose restart needs history and has it.
    *
    * @param folder
    *   the folder of the checkpoint
    * @param batch
    *   the first micro-batch of the restart
    */
  def of(folder: String, batch: Long, query: LogicalPlan): Seq[ReplacedStates] = {
    val session = SparkSession.active
    val operators = RestartedOperator.in(query)
    val checkpoint = new Checkpoint(session, folder)
    val stored = checkpoint
      .operators(batch - 1)
      .collect {
        case keep: OperatorStateMetadataV2
            if keep.operatorInfo.operatorName == StatefulKeepExec.OperatorName =>
          keep
      }
      .sortBy(_.operatorInfo.operatorId)
    // Spark refuses a query with other operators.
    if (stored.size != operators.size) Nil
    else {
      // The identity of a running query is that of its optimized plan.
      val optimized = session.sessionState.optimizer.execute(query.transform {
        case table: WithHistory => table.stream
      })
      for {
        ((operator, now), keep) <- operators.zip(RestartedOperator.of(optimized)).zip(stored)
        if operator.history.isDefined
        plan = StateIdentity.plan(
          keep.operatorPropertiesJson,
          now.identity,
          now.options.copy(hasHistory = true))
        if plan.replaces
      } yield {
        val former = new FormerOperator(checkpoint, keep, batch - 1)
        ReplacedStates(operator, plan.hash, former.replacedBy(operator, now.identity))
      }
    }
  }
}
