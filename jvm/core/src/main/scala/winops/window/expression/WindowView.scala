package winops.window.expression

/** The window contents as a condition sees them. */
trait WindowView {

  /** The row that unqualified columns in the condition refer to. */
  def examined: Long

  /** The ordinal of the oldest row. */
  def oldest: Long

  /** The ordinal of the newest row. */
  def newest: Long

  /** Arrival time of the oldest row, in milliseconds. */
  def oldestArrival: Long

  /** Arrival time of the newest row, in milliseconds. */
  def newestArrival: Long

  /** Number of rows in the window. */
  def count: Long

  /** Number of rows that the current evaluation of the window has evicted so far. */
  def expired: Long

  /** The ordinal of the next row in the window after `ordinal`; [[WindowView.NoRow]] after the
    * newest row. Given `NoRow`, the ordinal of the oldest row.
    */
  def after(ordinal: Long): Long
}

object WindowView {

  /** Stands for the absence of a row. */
  val NoRow: Long = -1L
}
