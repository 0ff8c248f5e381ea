package org.apache.spark.sql.winops.execution

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.streaming.operators.stateful.{EventTimeStatsAccum, EventTimeWatermarkExec}

/** Moves the watermark of a query past rows that wait, by telling its `withWatermark` operators
  * of a time that no row has. Spark then computes the next watermark of it and logs it with its
  * batches, so that a restart finds it.
  *
  * @param statistics
  *   where each of the operators counts the times of rows, and its delay in milliseconds
  * @param behind
  *   by how many milliseconds the watermark of the rows is behind that of the query
  */
private[winops] final class WatermarkAdvance(
    statistics: Seq[(EventTimeStatsAccum, Long)],
    behind: Long)
    extends Serializable {

  /** Asks for a watermark right after the instant.
    *
    * @param millis
    *   the greatest time of a task's rows that wait, in milliseconds; `Long.MinValue` for none
    */
  def passBy(millis: Long): Unit = if (millis != Long.MinValue) {
    val watermark = millis + 1 + behind
    statistics.foreach { case (times, delay) => times.add(watermark + delay) }
  }
}

private[winops] object WatermarkAdvance {

  /** @param plan
    *   what gives the rows
    */
  def of(plan: SparkPlan): WatermarkAdvance = new WatermarkAdvance(
    plan.collect { case node: EventTimeWatermarkExec => (node.eventTimeStats, node.delayMs) },
    plan.collect { case keep: StatefulKeepExec => keep.watermarkLag }.sum)
}
