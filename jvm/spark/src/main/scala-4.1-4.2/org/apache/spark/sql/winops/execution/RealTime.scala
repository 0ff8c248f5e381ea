package org.apache.spark.sql.winops.execution

import org.apache.spark.sql.execution.SparkPlan

import winops.spark.execution.RowArrival

/** Real-time mode, which has operators with state from Spark 4.3 on. */
private[execution] object RealTime {

  /** The way in which the rows of a plan arrive at an operator.
    *
    * @param operator
    *   its name in messages
    */
  def arrival(operator: String, input: SparkPlan): RowArrival = RowArrival.ByGroup
}
