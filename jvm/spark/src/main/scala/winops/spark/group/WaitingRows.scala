package winops.spark.group

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.spark.row.RowBytes
import winops.storage.rows.RowLog

/** Reads the rows of the open group that wait since earlier micro-batches, in the order in which
  * they are applied.
  */
trait WaitingRows {

  /** The first row that is not taken; null if none is left. Valid until the next call of any
    * method but this.
    */
  def first: UnsafeRow

  /** Takes the first row, which stays valid until the next call of [[first]]. */
  def take(): Unit

  /** Finishes reading. Rows that were not taken keep waiting; an implementation that removed them
    * from the log passes each of them to `wait`.
    */
  def putBack(wait: UnsafeRow => Unit): Unit
}

/** Stands for waiting rows of which none is released in this micro-batch. */
object NoWaitingRows extends WaitingRows {
  override def first: UnsafeRow = null
  override def take(): Unit = throw new NoSuchElementException
  override def putBack(wait: UnsafeRow => Unit): Unit = ()
}

/** Takes rows from the front of a log that is in order, and leaves the rows behind untouched. */
final class WaitingInOrder(log: RowLog, width: Int) extends WaitingRows {
  private val row = new UnsafeRow(width)
  private var taken = log.first

  override def first: UnsafeRow =
    if (taken == log.end) null
    else {
      RowBytes.pointTo(row, log, taken)
      row
    }

  override def take(): Unit = taken += 1
  override def putBack(wait: UnsafeRow => Unit): Unit = log.release(taken)
}

/** Removes the rows of a log that is out of order, sorts them, and puts those not taken back in
  * order.
  */
final class WaitingUnordered(state: GroupState, width: Int, order: Ordering[InternalRow])
    extends WaitingRows {
  private val rows = takeAll()
  private var taken = 0

  override def first: UnsafeRow = if (taken == rows.length) null else rows(taken)
  override def take(): Unit = taken += 1

  override def putBack(wait: UnsafeRow => Unit): Unit = {
    while (taken < rows.length) {
      wait(rows(taken))
      taken += 1
    }
  }

  private def takeAll(): Array[UnsafeRow] = {
    val log = state.waiting
    val all = Array.tabulate((log.end - log.first).toInt) { i =>
      val row = new UnsafeRow(width)
      RowBytes.pointTo(row, log, log.first + i)
      row.copy()
    }
    log.discard()
    state.firstWaiting = Long.MaxValue
    state.waitingInOrder = true
    // The sort is stable, so equal rows stay in the order of their arrival.
    java.util.Arrays.sort(all, order)
    all
  }
}
