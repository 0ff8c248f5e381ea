package org.apache.spark.sql.winops.execution

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.datasources.v2.RealTimeStreamScanExec
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec

import winops.spark.execution.{RowArrival, RowByRow}
import winops.spark.internal.WinopsErrors
import winops.spark.plan.RealTimeSettings

/** Real-time mode, which has operators with state from Spark 4.3 on. */
private[execution] object RealTime {

  /** The way in which the rows of a plan arrive at an operator.
    *
    * @param operator
    *   its name in messages
    * @throws org.apache.spark.sql.AnalysisException
    *   if the rows of a group may come from several partitions, and a setting refuses that
    */
  def arrival(operator: String, input: SparkPlan): RowArrival = {
    val scans = input.collect { case scan: RealTimeStreamScanExec => scan }
    if (scans.isEmpty) RowArrival.ByGroup
    else {
      if (RealTimeSettings.onePartitionPerGroup(input.conf)) {
        checkPartitions(operator, input, scans)
      }
      new RowByRow(RealTimeSettings.openGroups(input.conf))
    }
  }

  /** Refuses input that several tasks write. A task reads them as they come, so that the order of
    * a group's rows is repeated only if one task has written all of them; and Spark's scan does
    * not tell which rows a partition has.
    *
    * Spark adds the operator's own exchange to the input after it has read the requirements of
    * the operator. Exchanges below are found after that, in the plan that runs.
    */
  private def checkPartitions(
      operator: String,
      input: SparkPlan,
      scans: Seq[RealTimeStreamScanExec]): Unit = {
    val ofSource = scans.map(_.inputPartitions.size).sum
    val ofOthers = exchanges(input)
      .flatMap(last => exchanges(last.child))
      .map(_.outputPartitioning.numPartitions)
    if (ofSource > 1 || ofOthers.exists(_ > 1)) {
      val partitions =
        if (ofSource > 1) s"$ofSource partitions of the source"
        else s"${ofOthers.max} partitions of another operator"
      throw WinopsErrors.analysis(
        "WINOPS_REAL_TIME.SEVERAL_PARTITIONS",
        "operator" -> operator,
        "partitions" -> partitions,
        "setting" -> RealTimeSettings.OnePartitionPerGroup)
    }
  }

  /** The exchanges of the stream's rows in a plan. */
  private def exchanges(plan: SparkPlan): Seq[ShuffleExchangeExec] = plan.collect {
    case exchange: ShuffleExchangeExec
        if exchange.exists(_.isInstanceOf[RealTimeStreamScanExec]) =>
      exchange
  }
}
