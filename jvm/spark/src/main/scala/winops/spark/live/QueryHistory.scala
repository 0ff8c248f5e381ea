package winops.spark.live

import java.util.UUID

/** A run of a query with `keep` or window functions.
  *
  * @param run
  *   the id of the run
  * @param id
  *   the id of the query; None before its first micro-batch has ended
  * @param name
  *   the name that the user gave the query
  * @param batch
  *   the number of the last micro-batch that ended; -1 before the first
  * @param batches
  *   the number of micro-batches of this run that have ended
  * @param rowsPerSecond
  *   the rows that the last micro-batch processed per second, as Spark computes them
  * @param watermark
  *   the watermark of the last micro-batch, in ISO 8601; None if the query has none
  * @param windows
  *   the operators in the order of the query's progress
  */
final case class QueryHistory(
    run: UUID,
    id: Option[UUID] = None,
    name: Option[String] = None,
    status: QueryStatus = QueryStatus.Running,
    batch: Long = -1,
    batches: Long = 0,
    rowsPerSecond: Double = 0,
    watermark: Option[String] = None,
    windows: Vector[WindowHistory] = Vector.empty) {

  /** The name of the query, or its id if it has no name. */
  def title: String = name.getOrElse(id.getOrElse(run).toString)
}
