package winops.spark.execution

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute

import winops.spark.group.BatchTimes
import winops.spark.input.GroupedRows
import winops.spark.internal.KeepMetrics
import winops.spark.plan.{KeepPlan, OperatorPlan}
import winops.spark.state.{GroupStore, PartitionState}
import winops.window.crossgroup.GroupRecords

/** Iterates over the output rows of one task of an operator, over a stream or a table. After the
  * last row, the task has the figures that the driver needs.
  */
trait OperatorTask extends Iterator[InternalRow] {

  /** The time of the earliest timer that no [[PartitionState]] holds; [[Clock.Never]] if none. */
  def earliestDue: Long

  /** The greatest time, in milliseconds, of the rows that still wait after a batch that flushes;
    * `Long.MinValue` if no row waits.
    */
  def lastWaiting: Long
}

object OperatorTask {

  /** Creates the task of a plan.
    *
    * @param input
    *   the columns of the rows
    * @param whole
    *   stores the state that groups share, if they depend on each other
    * @param records
    *   stores the records of groups that depend on each other
    */
  def of(
      plan: OperatorPlan,
      input: Seq[Attribute],
      rows: GroupedRows,
      times: BatchTimes,
      store: GroupStore,
      whole: => GroupStore,
      records: => GroupRecords,
      partition: PartitionState,
      metrics: KeepMetrics): OperatorTask = plan match {
    case keep: KeepPlan if keep.spec.isCrossGroup =>
      new CrossGroupTask(keep, input, rows, times, store, whole, records, partition, metrics)
    case _ => GroupTask.of(plan, input, rows, times, store, partition, metrics)
  }
}
