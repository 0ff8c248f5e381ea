package winops.spark.internal

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

/** The metrics of a `keep` operator, shown in the Spark UI and in a streaming query's progress.
  */
final class KeepMetrics(metrics: Map[String, SQLMetric]) extends Serializable {
  val outputRows: SQLMetric = metrics(KeepMetrics.OutputRows)
  val late: SQLMetric = metrics(KeepMetrics.Late)
  val inserted: SQLMetric = metrics(KeepMetrics.Inserted)
  val deleted: SQLMetric = metrics(KeepMetrics.Deleted)
  val held: SQLMetric = metrics(KeepMetrics.Held)
  val waiting: SQLMetric = metrics(KeepMetrics.Waiting)
  val outOfOrder: SQLMetric = metrics(KeepMetrics.OutOfOrder)
  val nullTime: SQLMetric = metrics(KeepMetrics.NullTime)
  val refused: SQLMetric = metrics(KeepMetrics.Refused)
  val updated: SQLMetric = metrics(KeepMetrics.Updated)
  val removed: SQLMetric = metrics(KeepMetrics.Removed)
  val notHeld: SQLMetric = metrics(KeepMetrics.NotHeld)
  val returned: SQLMetric = metrics(KeepMetrics.Returned)
  val lookedUp: SQLMetric = metrics(KeepMetrics.LookedUp)
  val afterFinal: SQLMetric = metrics(KeepMetrics.AfterFinal)
  val evictedSilently: SQLMetric = metrics(KeepMetrics.EvictedSilently)
  val groups: SQLMetric = metrics(KeepMetrics.Groups)
  val expired: SQLMetric = metrics(KeepMetrics.Expired)
  val entriesRead: SQLMetric = metrics(KeepMetrics.EntriesRead)
  val entriesWritten: SQLMetric = metrics(KeepMetrics.EntriesWritten)
  val bytesRead: SQLMetric = metrics(KeepMetrics.BytesRead)
  val bytesWritten: SQLMetric = metrics(KeepMetrics.BytesWritten)
}

object KeepMetrics {

  // Spark defines these two for every stateful operator.
  private val OutputRows = "numOutputRows"
  val Late = "numRowsDroppedByWatermark"

  val Inserted = "rowsInserted"
  val Deleted = "rowsDeleted"
  val Held = "rowsHeld"
  val Waiting = "rowsWaiting"
  private val OutOfOrder = "rowsOutOfOrder"
  val NullTime = "rowsNullTime"
  val Refused = "rowsRefused"
  val Updated = "rowsUpdated"
  val Removed = "rowsRemoved"
  val NotHeld = "rowsNotHeld"
  val Returned = "rowsReturned"
  val LookedUp = "rowsLookedUp"
  val AfterFinal = "rowsAfterFinal"
  val EvictedSilently = "rowsEvictedSilently"
  val Groups = "groups"
  private val Expired = "groupsExpired"
  private val EntriesRead = "stateEntriesRead"
  private val EntriesWritten = "stateEntriesWritten"
  private val BytesRead = "stateBytesRead"
  val BytesWritten = "stateBytesWritten"

  /** The number of rows of the largest group that the micro-batch processed. It is no metric of
    * tasks, which Spark would add up, and is only in the progress of a query.
    */
  val LargestGroup = "rowsOfLargestGroup"

  // Times from the arrival of a row in its task to the last row of its output, in microseconds.
  val LatencyP50 = "rowLatencyMicrosP50"
  val LatencyP99 = "rowLatencyMicrosP99"

  /** The name and description of each metric that only a query in real-time mode has. */
  val inRealTime: Seq[(String, String)] = Seq(
    LatencyP50 -> "median of the time that a row takes in the operator, in microseconds",
    LatencyP99 -> "99th percentile of the time that a row takes in the operator, in microseconds")

  /** The name and description of each metric that a query's progress contains beside Spark's. */
  def inProgress: Seq[(String, String)] =
    own :+ (LargestGroup -> "number of rows of the largest group that was processed")

  /** The name and description of each metric of tasks that Spark does not define. */
  val own: Seq[(String, String)] = Seq(
    Inserted -> "number of rows inserted into windows",
    Deleted -> "number of rows deleted from windows",
    Held -> "number of rows held in windows, or waiting for the watermark",
    Waiting -> "number of rows that wait for the watermark",
    OutOfOrder -> "number of rows that came behind their group's order",
    NullTime -> "number of rows dropped for having no time",
    Refused -> "number of rows that the window did not admit",
    Updated -> "number of updates of rows in windows",
    Removed -> "number of rows that a delete removed from windows",
    NotHeld -> "number of updates and deletes of rows that the window did not hold",
    Returned -> "number of rows that returned into windows from behind them",
    LookedUp -> "number of rows that have looked windows up",
    AfterFinal -> "number of rows dropped for coming after the end of the input",
    EvictedSilently -> "number of rows evicted without a delete",
    Groups -> "number of groups remembered",
    Expired -> "number of groups forgotten for their silence or to make room",
    EntriesRead -> "number of entries read from the state store",
    EntriesWritten -> "number of entries written to or removed from the state store",
    BytesRead -> "number of bytes read from the state store",
    BytesWritten -> "number of bytes written to the state store")

  /** Creates metrics with the same names, for the values of one partition, which its task adds to
    * the others at its end.
    */
  def ofPartition(metrics: Map[String, SQLMetric]): Map[String, SQLMetric] =
    (own.map { case (name, _) => name } :+ OutputRows :+ Late).map { name =>
      name -> new SQLMetric(metrics(name).metricType)
    }.toMap

  def forTable(context: SparkContext): Map[String, SQLMetric] =
    (own :+ (OutputRows -> "number of output rows") :+
      (Late -> "number of rows which are dropped by watermark")).map { case (name, text) =>
      name -> SQLMetrics.createMetric(context, text)
    }.toMap
}
