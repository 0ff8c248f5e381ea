package org.apache.spark.sql.winops.shuffle

import org.apache.spark.SparkEnv
import org.apache.spark.internal.config.SHUFFLE_SORT_BYPASS_MERGE_THRESHOLD
import org.apache.spark.rdd.RDD
import org.apache.spark.shuffle.sort.SortShuffleManager
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.execution.{ShuffledRowRDD, SparkPlan, SQLExecution}
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.metric.SQLMetrics

import winops.spark.shuffle.PackedRowSerializer

/** Executes Spark's shuffle exchange with packed rows. Only the serialized format of the rows
  * differs.
  *
  * Applies only if a task writes a separate file for each partition. Other shuffle writers sort
  * serialized rows, but a packed row depends on the row before. A shuffle of real-time mode sends
  * rows as they come.
  */
private[winops] object PackedShuffle {
  def execute(child: SparkPlan): RDD[InternalRow] = child match {
    case exchange: ShuffleExchangeExec
        if !PipelinedShuffle.is(exchange) && writesFilePerPartition(exchange) =>
      val dependency = ShuffleExchangeExec.prepareShuffleDependency(
        exchange.inputRDD,
        exchange.child.output,
        exchange.outputPartitioning,
        new PackedRowSerializer(exchange.child.output.size, exchange.longMetric("dataSize")),
        exchange.metrics)
      reportPartitions(exchange, dependency.partitioner.numPartitions)
      new ShuffledRowRDD(dependency, exchange.readMetrics)
    case other => other.execute()
  }

  private def reportPartitions(exchange: ShuffleExchangeExec, count: Int): Unit = {
    val metric = exchange.longMetric("numPartitions")
    metric.set(count)
    val context = exchange.session.sparkContext
    val execution = context.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)
    SQLMetrics.postDriverMetricUpdates(context, execution, Seq(metric))
  }

  private def writesFilePerPartition(exchange: ShuffleExchangeExec): Boolean =
    exchange.outputPartitioning match {
      case HashPartitioning(_, partitions) =>
        ManagerOfShuffle.get.isInstanceOf[SortShuffleManager] &&
        partitions <= SparkEnv.get.conf.get(SHUFFLE_SORT_BYPASS_MERGE_THRESHOLD)
      case _ => false
    }
}
