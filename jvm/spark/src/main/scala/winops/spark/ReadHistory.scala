package winops.spark

import scala.collection.mutable

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.winops.source.{HistoryRecord, HistorySource}

import winops.spark.source.WithHistory

/** Reads the tables that streams start with in the first micro-batch of a query, and removes them
  * from all others.
  */
object ReadHistory extends Rule[LogicalPlan] {
  private val MaxRuns = 100

  /** The last runs of queries that have read the table, or whose log says that they do not. */
  private val told = mutable.LinkedHashSet.empty[String]

  override def apply(plan: LogicalPlan): LogicalPlan = {
    val nodes = plan.collect { case node: WithHistory => node }
    if (nodes.isEmpty) plan
    else {
      HistorySource.batch match {
        case Some(batch) if readsIn(batch) =>
          plan.transform {
            case node: WithHistory if node.record.isEmpty => read(node, nodes.indexOf(node))
          }
        case Some(_) =>
          tell()
          plan.transform { case node: WithHistory => node.stream }
        // A plan that is explained has no micro-batch.
        case None => plan
      }
    }
  }

  /** Returns true for the micro-batch that reads the tables. */
  private def readsIn(batch: Long): Boolean = batch == 0

  private def read(node: WithHistory, number: Int): WithHistory =
    HistorySource.query.fold(node) { query =>
      val _ = isNew(query.runId.toString)
      val record = HistoryRecord(query.resolvedCheckpointRoot, number)
      node.copy(history = HistorySource.recorded(node.history, record), record = Some(record))
    }

  private def tell(): Unit = HistorySource.query.foreach { query =>
    if (isNew(query.runId.toString)) {
      logInfo(
        s"The query ${query.id} continues from its checkpoint. The table of with_history was " +
          "read when the checkpoint began, and is not read again.")
    }
  }

  private def isNew(run: String): Boolean = told.synchronized {
    if (told.size >= MaxRuns) told.remove(told.head)
    told.add(run)
  }
}
