package winops.spark.live

/** A number of an operator, as JSON and gauges show it.
  *
  * @param name
  *   the name in JSON and in the names of gauges
  * @param of
  *   the number
  */
final case class LiveMetric(name: String, of: WindowHistory => Double)

object LiveMetric {

  /** All numbers of an operator. */
  val all: Seq[LiveMetric] = Seq(
    LiveMetric("rowsHeld", _.last.held.toDouble),
    LiveMetric("groups", _.last.groups.toDouble),
    LiveMetric("rowsOfLargestGroup", _.last.largest.toDouble),
    LiveMetric("rowsWaiting", _.last.waiting.toDouble),
    LiveMetric("rowsInsertedPerSecond", _.last.insertedPerSecond),
    LiveMetric("rowsDeletedPerSecond", _.last.deletedPerSecond),
    LiveMetric("stateBytesWrittenPerRow", _.bytesPerRow),
    LiveMetric("rowsLateTotal", _.late.toDouble),
    LiveMetric("rowsRefusedTotal", _.refused.toDouble),
    LiveMetric("rowsDroppedTotal", _.dropped.toDouble),
    LiveMetric("batchMillis", _.last.millis.toDouble),
    LiveMetric("alerts", _.alerts.size.toDouble))
}
