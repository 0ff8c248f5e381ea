package winops.spark

import scala.collection.mutable

import org.apache.spark.sql.winops.source.HistorySource

/** Finds the first micro-batch of a run of a query, the only one that can have the state of
  * another query.
  */
private[spark] object FirstBatch {
  private val MaxRuns = 100

  /** The first micro-batches of the last runs. */
  private val batches = mutable.LinkedHashMap.empty[String, Long]

  /** True if the plan of this thread is not known to be that of a later micro-batch. */
  def mayBeCurrent: Boolean = {
    val planned =
      for (batch <- HistorySource.batch; query <- HistorySource.query)
        yield isFirst(query.runId.toString, batch)
    planned.getOrElse(true)
  }

  /** True if a micro-batch is the first one of its run that was planned. */
  def isFirst(run: String, batch: Long): Boolean = batches.synchronized {
    if (!batches.contains(run) && batches.size >= MaxRuns) batches.remove(batches.head._1)
    batches.getOrElseUpdate(run, batch) == batch
  }
}
