package org.apache.spark.sql.winops.execution

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.datasources.v2.RealTimeStreamScanExec

import winops.spark.execution.{RowArrival, RowByRow}
import winops.spark.plan.RealTimeSettings

/** Real-time mode, which has operators with state from Spark 4.3 on. */
private[execution] object RealTime {

  /** The way in which the rows of a plan arrive at an operator. */
  def arrival(input: SparkPlan): RowArrival =
    if (input.exists(_.isInstanceOf[RealTimeStreamScanExec])) {
      new RowByRow(RealTimeSettings.openGroups(input.conf))
    } else RowArrival.ByGroup
}
