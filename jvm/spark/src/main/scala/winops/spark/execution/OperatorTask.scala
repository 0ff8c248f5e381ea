package winops.spark.execution

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute

import winops.spark.group.BatchTimes
import winops.spark.input.GroupedRows
import winops.spark.internal.KeepMetrics
import winops.spark.plan.{KeepPlan, OperatorPlan}
import winops.spark.state.{GroupStore, PartitionState, StateErrors}
import winops.window.crossgroup.GroupRecords

/** Iterates over the output rows of one task of an operator, over a stream or a table, and works
  * until the next one is available. After the last row, the task has the figures that the driver
  * needs.
  */
abstract class OperatorTask extends Iterator[InternalRow] {

  /** The time of the earliest timer that no [[PartitionState]] holds; [[Clock.Never]] if none. */
  def earliestDue: Long

  /** The greatest time, in milliseconds, of the rows that still wait after a batch that flushes;
    * `Long.MinValue` if no row waits.
    */
  def lastWaiting: Long

  /** Returns true if an output row is available. */
  protected def isAtRow: Boolean

  /** The output row that is available; valid until the next call of any method. */
  protected def takeRow(): InternalRow

  /** Returns true if no work is left. */
  protected def isDone: Boolean

  /** Does one unit of work, after which output rows may be available. */
  protected def work(): Unit

  // Output rows are read from the state of groups, which may be corrupt.
  final override def hasNext: Boolean =
    try {
      while (!isAtRow && !isDone) work()
      isAtRow
    } catch StateErrors.translate

  final override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    try takeRow()
    catch StateErrors.translate
  }
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
