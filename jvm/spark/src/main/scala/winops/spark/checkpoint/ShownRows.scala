package winops.spark.checkpoint

import scala.collection.mutable

import winops.spark.group.{KeepOperation, OverOperation}
import winops.spark.plan.KeepPlan
import winops.storage.rows.RowStore
import winops.window.changes.ChangeQueue
import winops.window.time.Clock

/** The rows of the open group that a reader of the state shows, beside those that wait for the
  * watermark.
  */
private[checkpoint] trait ShownRows {

  /** The store of the rows. */
  def store: RowStore

  /** True if the rows wait for the rows that follow. */
  def areWaiting: Boolean

  /** The rows of the group that was opened last. */
  def each: Iterator[ShownRows.WindowRow]
}

private[checkpoint] object ShownRows {

  /** A row in a window.
    *
    * @param arrived
    *   the arrival time in milliseconds, if it is stored
    * @param leaves
    *   the time in milliseconds at which the row will be evicted; [[Clock.Never]] if time does
    *   not decide
    */
  final case class WindowRow(window: Int, row: Long, arrived: Option[Long], leaves: Long)
}

/** The contents of the windows, in the order of the windows.
  *
  * @param changes
  *   the queue of the operation's changes
  */
private[checkpoint] final class RetainedRows(
    plan: KeepPlan,
    operation: KeepOperation,
    changes: ChangeQueue)
    extends ShownRows {
  private val leaving = new LeavingTimes(
    plan.spec.policy,
    plan.spec.idleMillis.getOrElse(Clock.Never),
    plan.spec.windows,
    changes)
  private val places = mutable.ArrayBuffer.empty[(Int, Long)]

  override def store: RowStore = operation.window
  override def areWaiting: Boolean = false

  override def each: Iterator[ShownRows.WindowRow] = {
    operation.machine.emitContents()
    places.clear()
    while (!changes.isEmpty) {
      changes.next()
      places += changes.window -> changes.ordinal
    }
    leaving.learn(operation.machine)
    places.iterator.map { case (window, row) =>
      val arrived = Option.when(plan.spec.policy.needsArrivals)(operation.window.arrival(row))
      ShownRows.WindowRow(window, row, arrived, leaving.of(window, row))
    }
  }
}

/** The rows whose results of window functions are not known. */
private[checkpoint] final class UnknownRows(operation: OverOperation) extends ShownRows {
  override def store: RowStore = operation.rows
  override def areWaiting: Boolean = true

  override def each: Iterator[ShownRows.WindowRow] =
    Iterator
      .iterate(operation.next)(_ + 1)
      .takeWhile(_ < operation.rows.end)
      .map(ShownRows.WindowRow(0, _, None, operation.clock.idleDue))
}
