package winops.window.rules

import java.util.Arrays

import winops.window.contents.RowSet

/** The rows that windows have evicted in a step, each once with the reason, in the order of their
  * eviction. A window with a buffer keeps some of them behind it, and lets others return.
  *
  * @param byLast
  *   true if a row that several windows evict counts at its last eviction, false if it counts at
  *   its first
  */
private[window] final class EvictedRows(byLast: Boolean) {
  import EvictedRows._

  private val rows = new RowSet

  /** The reason of each row, and whether the row stays behind the window. */
  private var reasons = new Array[Byte](RowSet.Few)

  private val back = new RowSet

  /** Adds a row that a window evicted, for one of the [[winops.window.changes.ChangeReason]]s. */
  def add(row: Long, reason: Int): Unit = {
    val isNew = if (byLast) { rows.addLast(row); true }
    else rows.add(row)
    if (isNew) {
      val last = rows.size - 1
      if (last == reasons.length) reasons = Arrays.copyOf(reasons, last * 2)
      reasons(last) = reason.toByte
    }
  }

  /** Adds a row that a window evicted, for one of the [[winops.window.changes.ChangeReason]]s,
    * and that stays stored behind the window.
    */
  def addBehind(row: Long, reason: Int): Unit = add(row, reason | Behind)

  /** Adds a row from behind a window that is stored no longer. It was deleted when it left the
    * window, so it leaves without a change.
    */
  def drop(row: Long): Unit = add(row, Dropped)

  /** Adds a row that returns into a window from behind it. */
  def bringBack(row: Long): Unit = {
    val _ = back.add(row)
  }

  def size: Int = rows.size

  /** The row at an index, or `WindowView.NoRow` if the row has moved behind. */
  def apply(index: Int): Long = rows(index)

  /** The reason for the eviction of the row at an index. */
  def reason(index: Int): Int = reasons(index) & ~Behind

  /** Returns true if the row at an index stays stored behind the window. */
  def staysBehind(index: Int): Boolean = (reasons(index) & Behind) != 0

  /** Returns true if the row at an index was in the window, so that its delete is emitted. */
  def isChange(index: Int): Boolean = reasons(index) != Dropped

  /** The rows that return into the window, in the order of their return. */
  def returned: RowSet = back

  def contains(row: Long): Boolean = rows.contains(row)

  def clear(): Unit = {
    rows.clear()
    back.clear()
  }
}

private object EvictedRows {

  /** The bit of a row that stays behind the window, above the bits of all reasons. */
  val Behind = 0x20

  /** Stands for the reason of a row that leaves without a change. */
  val Dropped = 0x1f
}
