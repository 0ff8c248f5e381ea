package winops.spark

import scala.collection.mutable

import org.apache.spark.sql.winops.source.HistorySource

/** Finds the first micro-batches of a run of a query, the only ones that can have the state of
  * another query. A sink may already have the rows of the first one and not run it, so there are
  * two of them.
  */
private[spark] object FirstBatches {
  private val MaxRuns = 100

  /** The first micro-batches of the last runs. */
  private val batches = mutable.LinkedHashMap.empty[String, Long]

  /** True if the plan of this thread is not known to be that of a later micro-batch. */
  def mayBeCurrent: Boolean = {
    val planned =
      for (batch <- HistorySource.batch; query <- HistorySource.query)
        yield mayReplace(query.runId.toString, batch)
    planned.getOrElse(true)
  }

  /** True if the state before a micro-batch may be that of another query. */
  def mayReplace(run: String, batch: Long): Boolean = batch <= first(run, batch) + 1

  /** True if a micro-batch is the first one of its run that was planned. */
  def isFirst(run: String, batch: Long): Boolean = first(run, batch) == batch

  private def first(run: String, batch: Long): Long = batches.synchronized {
    if (!batches.contains(run) && batches.size >= MaxRuns) batches.remove(batches.head._1)
    batches.getOrElseUpdate(run, batch)
  }
}
