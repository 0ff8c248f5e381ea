package winops.spark

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution
import org.apache.spark.sql.winops.checkpoint.ReplacedStates
import org.apache.spark.sql.winops.source.{HistoryRecord, HistorySource}

import winops.spark.source.WithHistory

/** Reads the tables that streams start with in the first micro-batch of a query, and those that
  * replace a state in the first micro-batch of a restart that needs history. Removes the tables
  * from all other micro-batches.
  */
object ReadHistory extends Rule[LogicalPlan] {

  /** The last run whose log says what becomes of the table. Spark may plan a micro-batch again.
    */
  private var told = ""

  override def apply(plan: LogicalPlan): LogicalPlan = {
    val nodes = plan.collect { case node: WithHistory => node }
    // The rule is applied until the plan stays the same.
    if (nodes.isEmpty || nodes.exists(_.record.isDefined)) plan
    else {
      val planned =
        for (batch <- HistorySource.batch; query <- HistorySource.query)
          yield read(plan, nodes, batch, query)
      // A plan that is explained has no micro-batch.
      planned.getOrElse(plan)
    }
  }

  private def read(
      plan: LogicalPlan,
      nodes: Seq[WithHistory],
      batch: Long,
      query: StreamExecution): LogicalPlan = {
    val isFirst = FirstBatch.isFirst(query.runId.toString, batch)
    val checkpoint = query.resolvedCheckpointRoot
    if (batch == 0) {
      plan.transform { case node: WithHistory =>
        node.begun(HistoryRecord(checkpoint, nodes.indexOf(node)))
      }
    } else {
      val replaced = if (isFirst) ReplacedStates.of(checkpoint, batch, plan) else Nil
      if (isFirst) tell(query, replaced)
      plan.transform { case node: WithHistory =>
        replaced.find(_.operator.history.exists(_ eq node)).fold(node.stream) { found =>
          val restart = HistoryRecord.Restart(batch, found.plan)
          node.replacing(
            found.state,
            HistoryRecord(checkpoint, nodes.indexOf(node), Some(restart)))
        }
      }
    }
  }

  private def tell(query: StreamExecution, replaced: Seq[ReplacedStates]): Unit =
    if (isNew(query.runId.toString)) {
      if (replaced.isEmpty) {
        logInfo(
          s"The query ${query.id} continues from its checkpoint. The table of with_history is " +
            "read only when a checkpoint begins, and is not read now.")
      } else {
        val plans = replaced.map(_.plan).mkString(", ")
        logWarning(
          s"The query ${query.id} removes the state of the former query, and forms it anew from " +
            s"the table of with_history, because the state lacks rows: plan $plans")
      }
    }

  private def isNew(run: String): Boolean = synchronized {
    val before = told
    told = run
    before != run
  }
}
