package org.apache.spark.sql.winops.execution

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.streaming.operators.stateful.{EventTimeStatsAccum, EventTimeWatermarkExec}

/** Requests a watermark past the waiting rows, by adding an artificial event time to the
  * statistics of the query's `withWatermark` operators. Spark computes the next watermark from
  * them and logs it, so that a restart finds it.
  *
  * @param statistics
  *   the event time statistics of each operator, and its delay in milliseconds
  * @param lag
  *   the lag of the watermark of the rows behind the query's watermark, in milliseconds
  */
private[winops] final class FlushWatermark(
    statistics: Seq[(EventTimeStatsAccum, Long)],
    lag: Long)
    extends Serializable {

  /** Requests a watermark right after an instant.
    *
    * @param millis
    *   the greatest time of a task's waiting rows in milliseconds; `Long.MinValue` for none
    */
  def requestAfter(millis: Long): Unit = if (millis != Long.MinValue) {
    val watermark = millis + 1 + lag
    statistics.foreach { case (times, delay) => times.add(watermark + delay) }
  }
}

private[winops] object FlushWatermark {

  /** Creates an instance for the watermark operators below a `keep`.
    *
    * @param plan
    *   the child of the operator
    */
  def of(plan: SparkPlan): FlushWatermark = new FlushWatermark(
    plan.collect { case node: EventTimeWatermarkExec => (node.eventTimeStats, node.delayMs) },
    RowWatermark.of(plan).behindQuery)
}
