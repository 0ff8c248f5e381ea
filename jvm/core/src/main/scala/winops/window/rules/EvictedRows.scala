package winops.window.rules

import winops.window.contents.RowSet

/** The rows that windows have evicted in a step, each once, in the order of their eviction.
  *
  * @param byLast
  *   true if a row that several windows evict counts at its last eviction, false if it counts at
  *   its first
  */
private[window] final class EvictedRows(byLast: Boolean) {
  private val rows = new RowSet

  def add(row: Long): Unit = if (byLast) rows.addLast(row) else { val _ = rows.add(row) }

  def size: Int = rows.size

  /** The row at an index, or `WindowView.NoRow` if the row has moved behind. */
  def apply(index: Int): Long = rows(index)

  def contains(row: Long): Boolean = rows.contains(row)

  def clear(): Unit = rows.clear()
}
