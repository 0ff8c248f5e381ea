package winops.spark

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution
import org.apache.spark.sql.winops.checkpoint.ReplacedStates
import org.apache.spark.sql.winops.source.{HistoryRecord, HistorySource}

import winops.spark.internal.OncePerRun
import winops.spark.source.WithHistory

/** Reads the tables that streams start with in the first micro-batch of a query, and those that
  * replace a state in the first micro-batch of a restart that needs history. Removes the tables
  * from all other micro-batches.
  */
object ReadHistory extends Rule[LogicalPlan] {

  /** The runs whose log says what becomes of the table. Spark may plan a micro-batch again. */
  private val told = new OncePerRun

  /** The runs whose tables were compared with those of the record. */
  private val checked = new OncePerRun

  override def apply(plan: LogicalPlan): LogicalPlan = {
    val nodes = plan.collect { case node: WithHistory => node }
    // The rule is applied until the plan stays the same.
    if (nodes.exists(_.record.isDefined)) plan
    else if (nodes.isEmpty) {
      if (plan.isStreaming) checkBegun(tables = 0)
      plan
    } else {
      val planned =
        for (batch <- HistorySource.batch; query <- HistorySource.query)
          yield read(plan, nodes, batch, query)
      // A plan that is explained has no micro-batch.
      planned.getOrElse(plan)
    }
  }

  /** Refuses a first micro-batch that has begun with more tables than the query has. Checks each
    * run once, because later rules may remove a table from the plan.
    */
  private def checkBegun(tables: Int): Unit =
    for (batch <- HistorySource.batch if batch == 0; query <- HistorySource.query) {
      if (checked.isFirst(query.runId.toString)) {
        HistoryRecord.checkNoneMissing(query.resolvedCheckpointRoot, tables)
      }
    }

  private def read(
      plan: LogicalPlan,
      nodes: Seq[WithHistory],
      batch: Long,
      query: StreamExecution): LogicalPlan = {
    val run = query.runId.toString
    val checkpoint = query.resolvedCheckpointRoot
    // The plan may have the same node twice.
    val numbers = Iterator.from(0)
    if (batch == 0) {
      checkBegun(nodes.size)
      plan.transform { case node: WithHistory =>
        node.begun(HistoryRecord(checkpoint, numbers.next()))
      }
    } else {
      val replaced =
        if (FirstBatches.mayReplace(run, batch)) ReplacedStates.of(checkpoint, batch, plan)
        else Nil
      if (FirstBatches.isFirst(run, batch)) tell(query, replaced)
      plan.transform { case node: WithHistory =>
        val number = numbers.next()
        replaced.find(_.operator.history.exists(_ eq node)).fold(node.stream) { found =>
          val restart = HistoryRecord.Restart(batch, found.plan)
          node.replacing(found.state, HistoryRecord(checkpoint, number, Some(restart)))
        }
      }
    }
  }

  private def tell(query: StreamExecution, replaced: Seq[ReplacedStates]): Unit =
    if (told.isFirst(query.runId.toString)) {
      if (replaced.isEmpty) {
        logWarning(
          s"The query ${query.id} uses the state of its checkpoint, and does not read the table of " +
            "with_history. The table is read when a checkpoint begins, and at a restart whose " +
            "state lacks rows. Leave with_history out if no such restart is intended.")
      } else {
        val plans = replaced.map(_.plan).mkString(", ")
        logWarning(
          s"The query ${query.id} removes the state of the former query, and forms it anew from " +
            s"the table of with_history, because the state lacks rows: plan $plans")
      }
    }
}
