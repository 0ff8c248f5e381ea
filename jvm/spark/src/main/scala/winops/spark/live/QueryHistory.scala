package winops.spark.live

import java.time.{Duration, Instant}
import java.util.UUID

import scala.util.Try

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
  * @param newest
  *   the greatest event time of the rows so far, in ISO 8601; None if the query has none
  * @param clock
  *   the start of the last micro-batch, in ISO 8601
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
    newest: Option[String] = None,
    clock: Option[String] = None,
    windows: Vector[WindowHistory] = Vector.empty) {

  /** The name of the query, or its id if it has no name. */
  def title: String = name.getOrElse(id.getOrElse(run).toString)

  /** The name of the query, or its policies if it has no name. */
  def heading: String = name.getOrElse {
    val policies = windows.map(_.policy).filter(_.nonEmpty)
    if (policies.isEmpty) title else policies.mkString("; ")
  }

  /** The time from the watermark to the newest row. */
  def lag: Option[Duration] = behind(newest)

  /** The time from the watermark to the start of the last micro-batch. */
  def behindClock: Option[Duration] = behind(clock)

  private def behind(instant: Option[String]): Option[Duration] = for {
    from <- watermark.flatMap(QueryHistory.parsed)
    to <- instant.flatMap(QueryHistory.parsed)
    if !to.isBefore(from)
  } yield Duration.between(from, to)
}

object QueryHistory {

  /** The later one of two instants in ISO 8601. */
  def later(one: Option[String], other: Option[String]): Option[String] =
    (one ++ other).toSeq.sortBy(parsed).lastOption

  private def parsed(instant: String): Option[Instant] = Try(Instant.parse(instant)).toOption
}
