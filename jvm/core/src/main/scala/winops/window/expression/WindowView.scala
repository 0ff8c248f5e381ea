package winops.window.expression

/** What a condition sees. */
trait WindowView {

  /** The row whose columns the condition means when it names them alone. */
  def examined: Long

  def oldest: Long
  def newest: Long

  /** When the oldest row arrived, in milliseconds. */
  def oldestArrival: Long

  /** When the newest row arrived, in milliseconds. */
  def newestArrival: Long

  /** How many rows are in the window. */
  def count: Long

  /** How many rows have been removed since the last row arrived. */
  def expired: Long

  /** The row in the window after `ordinal`; [[WindowView.NoRow]] after the newest. With `NoRow`
    * it is the oldest.
    */
  def after(ordinal: Long): Long
}

object WindowView {
  val NoRow: Long = -1L
}
