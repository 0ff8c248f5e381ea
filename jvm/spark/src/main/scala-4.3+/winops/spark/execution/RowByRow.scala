package winops.spark.execution

import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.winops.input.HandedOverRows

import winops.spark.group.BatchTimes
import winops.spark.input.ArrivingRows
import winops.spark.internal.KeepMetrics
import winops.spark.plan.OperatorPlan
import winops.spark.state.{StateGroupStore, StoredPartitionState}

/** A task processes each row when it arrives, while the micro-batch lasts.
  *
  * @param mostOpen
  *   the maximum number of groups that a task holds in memory between their rows
  */
final class RowByRow(mostOpen: Int) extends RowArrival {
  private val latencies = new LatencyAccumulator

  override def isSorted: Boolean = false

  override def register(context: SparkContext): Unit =
    if (!latencies.isRegistered) context.register(latencies)

  override def reported: Map[String, Long] =
    if (latencies.isZero) Map.empty
    else {
      Map(
        KeepMetrics.LatencyP50 -> latencies.value.percentile(0.5),
        KeepMetrics.LatencyP99 -> latencies.value.percentile(0.99))
    }

  override def rows(
      plan: OperatorPlan,
      input: Seq[Attribute],
      rows: Iterator[InternalRow]): ArrivedRows = new ArrivedRows {
    override def areByGroup: Boolean = false

    override def task(
        plan: OperatorPlan,
        input: Seq[Attribute],
        times: BatchTimes,
        groups: StateGroupStore,
        partition: StoredPartitionState,
        metrics: KeepMetrics): OperatorTask = {
      val unsafe = rows.asInstanceOf[Iterator[UnsafeRow]]
      new RealTimeTask(
        plan,
        input,
        if (RealTimeTask.firesBetweenRows(plan)) {
          new HandedOverRows(unsafe, TaskContext.get(), RowByRow.clock)
        } else ArrivingRows.direct(unsafe),
        times,
        groups,
        partition,
        metrics,
        mostOpen,
        RowByRow.clock,
        latencies)
    }
  }
}

private object RowByRow {

  /** The clock of real-time mode: that of the executor, in milliseconds. */
  val clock: () => Long = () => System.currentTimeMillis()
}
