package winops.window.contents

import winops.storage.rows.Rows
import winops.window.expression.WindowView

/** The rows of a group without those that have left in the present step, which are still there to
  * be read.
  */
private[window] final class HeldRows(rows: Rows) {
  private val gone = new RowSet
  private var count = 0L

  /** The newest row if it was refused: it can be read until its step has been emitted. */
  private var refusedRow = WindowView.NoRow

  def end: Long = rows.end
  def arrival(row: Long): Long = rows.arrival(row)

  /** How many rows there are. */
  def size: Long = count

  def entered(): Unit = {
    count += 1
    refusedRow = WindowView.NoRow
  }

  /** The oldest row that is not before `row`; [[end]] if there is none. */
  def from(row: Long): Long = {
    val there = if (row <= rows.first) rows.first else rows.next(row - 1)
    pastGone(there)
  }

  /** The oldest row that is newer than `row`; [[end]] if there is none. */
  def next(row: Long): Long = pastGone(rows.next(row))

  /** The newest row that is not after `row`; [[WindowView.NoRow]] if there is none. */
  def lastFrom(row: Long): Long = {
    // A row that was refused is remembered by its number, and is there no more.
    var there = rows.previous(Math.min(row + 1, rows.end))
    while (isOut(there)) there = rows.previous(there)
    there
  }

  /** The newest row is taken back. */
  def refused(row: Long): Unit = {
    count -= 1
    refusedRow = row
  }

  /** The row leaves; false if it has left already. */
  def leave(row: Long): Boolean = {
    val leaves = gone.add(row)
    if (leaves) count -= 1
    leaves
  }

  // Rows without holes can only be forgotten in this order.
  def settle(): Unit = if (gone.size > 0) gone.drainInOrder(rows.remove)

  /** Starts without any row; those that have left may still have to be forgotten. */
  def startAfresh(): Unit = {
    refusedRow = WindowView.NoRow
    count = 0L
  }

  /** Starts with the rows that are there, `size` of them. */
  def restart(size: Long): Unit = {
    refusedRow = WindowView.NoRow
    gone.clear()
    count = size
  }

  private def pastGone(row: Long): Long = {
    var there = row
    while (there < rows.end && isOut(there)) there = rows.next(there)
    there
  }

  private def isOut(row: Long): Boolean =
    row != WindowView.NoRow && (row == refusedRow || gone.contains(row))
}
