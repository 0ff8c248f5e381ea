package winops.window.rules

import winops.window.contents.RowSet

/** Rows that windows have evicted in a step, each once, in the order of their eviction.
  *
  * @param byLast
  *   true if a row takes the place of its last eviction by several windows, not of its first
  */
private[window] final class Evicted(byLast: Boolean) {
  private val rows = new RowSet

  def add(row: Long): Unit = if (byLast) rows.addLast(row) else { val _ = rows.add(row) }

  def size: Int = rows.size

  /** A row, or [[WindowView.NoRow]] if the row of this place has moved. */
  def apply(index: Int): Long = rows(index)

  def contains(row: Long): Boolean = rows.contains(row)

  def clear(): Unit = rows.clear()
}
