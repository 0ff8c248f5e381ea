package winops.spark.group

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.spark.row.RowBytes
import winops.storage.rows.RowLog

/** The rows of the open group that have waited since earlier batches, in the order in which they
  * are applied.
  */
trait WaitingRows {

  /** The first that is not taken, or null; valid until the next call of any method but this. */
  def first: UnsafeRow

  /** Takes the first, which stays valid until the next call of [[first]]. */
  def take(): Unit

  /** Gives back the rows that were not taken. */
  def putBack(wait: UnsafeRow => Unit): Unit
}

object NoWaitingRows extends WaitingRows {
  override def first: UnsafeRow = null
  override def take(): Unit = throw new NoSuchElementException
  override def putBack(wait: UnsafeRow => Unit): Unit = ()
}

/** Rows that lie in order are taken from the front of their log, and those behind are not
  * touched.
  */
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

/** Rows that came out of order are taken out of their log, sorted, and put back in order. */
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
    // Stable, so that of equal rows the one that came first stays first.
    java.util.Arrays.sort(all, order)
    all
  }
}
