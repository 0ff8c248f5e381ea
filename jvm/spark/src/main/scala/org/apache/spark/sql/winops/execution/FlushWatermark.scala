package org.apache.spark.sql.winops.execution

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.streaming.operators.stateful.{EventTimeStatsAccum, EventTimeWatermarkExec}

/** Requests a watermark at the last waiting row, by adding an artificial event time to the
  * statistics of the query's `withWatermark` operators. Spark computes the next watermark from
  * them and logs it, so that a restart finds it.
  *
  * @param statistics
  *   the event time statistics of each operator, and its delay in milliseconds
  * @param rows
  *   the watermark of the rows
  */
private[winops] final class FlushWatermark(
    statistics: Seq[(EventTimeStatsAccum, Long)],
    rows: RowWatermark)
    extends Serializable {

  /** Requests a watermark with which an instant is applied. Spark's operators drop a row at
    * exactly their watermark, so a later one would make rows of the next start late.
    *
    * @param millis
    *   the greatest time of a task's waiting rows in milliseconds; `Long.MinValue` for none
    */
  def requestAt(millis: Long): Unit = if (millis != Long.MinValue) {
    val watermark = millis + rows.behindQuery + (if (rows.isOfSource) 0 else 1)
    statistics.foreach { case (times, delay) => times.add(watermark + delay) }
  }
}

private[winops] object FlushWatermark {

  /** Creates an instance for the watermark operators below a `keep`.
    *
    * @param plan
    *   the child of the operator
    * @param rows
    *   the watermark of the child's rows
    */
  def of(plan: SparkPlan, rows: RowWatermark): FlushWatermark = new FlushWatermark(
    plan.collect { case node: EventTimeWatermarkExec => (node.eventTimeStats, node.delayMs) },
    rows)
}
