package winops.window.contents

import winops.storage.rows.Rows
import winops.window.expression.WindowView

/** The rows of a group without the rows that left in the current step. A row that left stays
  * readable in `rows` until [[settle]].
  */
private[window] final class HeldRows(rows: Rows) {
  private val gone = new RowSet
  private var count = 0L

  /** The newest row if the window refused it. The machine removes the row from `rows` only after
    * the retainer has returned.
    */
  private var refusedRow = WindowView.NoRow

  def end: Long = rows.end
  def arrival(row: Long): Long = rows.arrival(row)

  /** Number of rows held. */
  def size: Long = count

  /** Counts the row that was appended last. */
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
    // `row` may be a refused row, which is no longer stored.
    var there = rows.previous(Math.min(row + 1, rows.end))
    while (isOut(there)) there = rows.previous(there)
    there
  }

  /** Marks the newest row as refused. */
  def refused(row: Long): Unit = {
    count -= 1
    refusedRow = row
  }

  /** Marks the row as left; returns false if the row has left already. */
  def leave(row: Long): Boolean = {
    val leaves = gone.add(row)
    if (leaves) count -= 1
    leaves
  }

  /** Removes the rows that have left from `rows`, oldest first, because a row log allows no other
    * order.
    */
  def settle(): Unit = if (gone.size > 0) gone.drainInOrder(rows.remove)

  /** Starts with no rows. Rows that left before are still removed by the next [[settle]]. */
  def startAfresh(): Unit = {
    refusedRow = WindowView.NoRow
    count = 0L
  }

  /** Starts with the stored rows, `size` of them. */
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
