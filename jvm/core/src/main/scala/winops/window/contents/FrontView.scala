package winops.window.contents

import winops.window.expression.WindowView

/** A condition's view of the rows from `oldest` to `newest`. */
private[window] final class FrontView(held: HeldRows) extends WindowView {
  private var examinedRow = WindowView.NoRow
  private var oldestRow = WindowView.NoRow
  private var newestRow = WindowView.NoRow
  private var rows = 0L
  private var gone = 0L

  /** Moves the view to other rows.
    *
    * @param examined
    *   the row that unqualified columns refer to
    * @param oldest
    *   the first row of the view
    * @param newest
    *   the last row of the view
    * @param count
    *   number of rows in the view
    * @param expired
    *   number of rows that the current evaluation has evicted
    */
  def set(examined: Long, oldest: Long, newest: Long, count: Long, expired: Long): Unit = {
    examinedRow = examined
    oldestRow = oldest
    newestRow = newest
    rows = count
    gone = expired
  }

  override def examined: Long = examinedRow
  override def oldest: Long = oldestRow
  override def newest: Long = newestRow
  override def oldestArrival: Long = held.arrival(oldestRow)
  override def newestArrival: Long = held.arrival(newestRow)
  override def count: Long = rows
  override def expired: Long = gone

  override def after(row: Long): Long = {
    val next = if (row == WindowView.NoRow) oldestRow else held.next(row)
    if (next < held.end) next else WindowView.NoRow
  }
}
