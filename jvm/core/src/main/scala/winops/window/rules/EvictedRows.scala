package winops.window.rules

import java.util.Arrays

import winops.window.contents.RowSet

/** The rows that windows have evicted in a step, each once with the reason, in the order of their
  * eviction.
  *
  * @param byLast
  *   true if a row that several windows evict counts at its last eviction, false if it counts at
  *   its first
  */
private[window] final class EvictedRows(byLast: Boolean) {
  private val rows = new RowSet

  private var reasons = new Array[Byte](RowSet.Few)

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

  def size: Int = rows.size

  /** The row at an index, or `WindowView.NoRow` if the row has moved behind. */
  def apply(index: Int): Long = rows(index)

  /** The reason for the eviction of the row at an index. */
  def reason(index: Int): Int = reasons(index)

  def contains(row: Long): Boolean = rows.contains(row)

  def clear(): Unit = rows.clear()
}
