package winops.spark.execution

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

import winops.spark.group.BatchTimes
import winops.spark.input.GroupedRows
import winops.spark.internal.KeepMetrics
import winops.spark.plan.OperatorPlan
import winops.spark.state.{GroupStore, PartitionState}
import winops.window.time.Clock

/** Runs an operation over the rows of one task, one group after the other, in the order of their
  * hashes: the groups with new rows, and those whose timers have expired. Emits output rows one
  * by one.
  *
  * Streams and tables differ only in the store of the groups, `partition` and `times`.
  *
  * @param rows
  *   the task's rows by group
  * @param times
  *   times of the micro-batch or table
  * @param group
  *   the open group with its operation
  * @param partition
  *   the timers of the groups, and the counts of groups and rows
  */
final class GroupTask private (
    rows: GroupedRows,
    times: BatchTimes,
    group: OpenGroup,
    partition: PartitionState)
    extends OperatorTask {

  /** True if the next group with rows has been found and not opened. */
  private var hasRows = false
  private var isOpen = false
  private var hasFinished = false

  override def earliestDue: Long = Clock.Never
  override def lastWaiting: Long = last
  private var last = Long.MinValue

  override protected def isAtRow: Boolean = group.isAtRow
  override protected def takeRow(): InternalRow = group.next()
  override protected def isDone: Boolean = hasFinished

  override protected def work(): Unit =
    if (!isOpen) openNext()
    else if (!group.work(times)) saveGroup()

  /** Opens the next group. Groups are processed in the order in which they are stored, with rows
    * or without.
    */
  private def openNext(): Unit = {
    if (!hasRows) hasRows = rows.nextGroup()
    val key = if (hasRows) partition.nextExpiredBefore(rows.key) else partition.nextExpired()
    if (key != null) openForTime(key)
    else if (hasRows) openForRows()
    else finish()
  }

  private def openForRows(): Unit = {
    hasRows = false
    partition.cancel(rows.key)
    group.load(rows.key, times.now)
    group.open(rows)
    isOpen = true
  }

  /** Timers are not deleted when a group is removed or rescheduled, so an entry may be stale. */
  private def openForTime(key: UnsafeRow): Unit = {
    group.load(key, times.now)
    // A removed group needs no work; the next unit of work takes another one.
    if (group.isStored) {
      group.open(GroupedRows.Empty)
      isOpen = true
    }
  }

  private def saveGroup(): Unit = {
    group.registerTimers(times)
    if (times.flushes) last = Math.max(last, group.lastWaiting)
    group.save()
    isOpen = false
  }

  private def finish(): Unit = {
    group.count()
    hasFinished = true
  }
}

object GroupTask {

  /** Creates the task of a plan whose groups are independent.
    *
    * @param input
    *   the columns of the rows
    */
  def of(
      plan: OperatorPlan,
      input: Seq[Attribute],
      rows: GroupedRows,
      times: BatchTimes,
      store: GroupStore,
      partition: PartitionState,
      metrics: KeepMetrics): GroupTask = {
    val group = OpenGroup.of(plan, input, times, store, partition, metrics, restarts = true)
    new GroupTask(rows, times, group, partition)
  }
}
