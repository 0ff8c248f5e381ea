package winops.window.rules

import winops.window.contents.RowSet

/** The rows that windows let go of in a step, each once, in the order in which they did.
  *
  * @param byLast
  *   whether a row stands where the last of several windows let it go, rather than the first
  */
private[window] final class Evicted(byLast: Boolean) {
  private val rows = new RowSet

  def add(row: Long): Unit = if (byLast) rows.addLast(row) else { val _ = rows.add(row) }

  def size: Int = rows.size

  /** A row, or [[WindowView.NoRow]] where one stands elsewhere now. */
  def apply(index: Int): Long = rows(index)

  def contains(row: Long): Boolean = rows.contains(row)

  def clear(): Unit = rows.clear()
}
