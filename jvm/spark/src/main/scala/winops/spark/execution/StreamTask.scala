package winops.spark.execution

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute

import winops.spark.group.BatchTimes
import winops.spark.input.GroupedRows
import winops.spark.internal.KeepMetrics
import winops.spark.plan.KeepPlan
import winops.spark.state.{GroupStore, TimerService}
import winops.window.crossgroup.GroupRecords

/** Iterates over the output rows of one task of a `keep`. After the last row, the task has the
  * figures that the driver needs.
  */
trait StreamTask extends Iterator[InternalRow] {

  /** The time of the earliest timer that no [[TimerService]] holds; [[Clock.Never]] if none. */
  def earliestDue: Long

  /** The greatest time, in milliseconds, of the rows that still wait after a batch that flushes;
    * `Long.MinValue` if no row waits.
    */
  def lastWaiting: Long
}

object StreamTask {

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
      plan: KeepPlan,
      input: Seq[Attribute],
      rows: GroupedRows,
      times: BatchTimes,
      store: GroupStore,
      whole: => GroupStore,
      records: => GroupRecords,
      timers: TimerService,
      metrics: KeepMetrics): StreamTask =
    if (plan.spec.couplesGroups) {
      new CrossGroupTask(plan, input, rows, times, store, whole, records, timers, metrics)
    } else new KeepTask(plan, input, rows, times, store, timers, metrics)
}
