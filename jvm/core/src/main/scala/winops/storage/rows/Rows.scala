package winops.storage.rows

/** The rows of one group, in arrival order. Ordinals number the group's rows and never change;
  * each row has an arrival time in milliseconds.
  */
trait Rows {

  /** The ordinal after the newest row. */
  def end: Long

  /** The ordinal of the oldest stored row; [[end]] if there is none. */
  def first: Long

  /** The ordinal of the oldest stored row newer than `ordinal`; [[end]] if there is none. */
  def next(ordinal: Long): Long

  /** The ordinal of the newest stored row older than `ordinal`; -1 if there is none. */
  def previous(ordinal: Long): Long

  /** Returns true if the row is stored. */
  def contains(ordinal: Long): Boolean

  /** Arrival time of the row, in milliseconds. */
  def arrival(ordinal: Long): Long

  /** Removes the rows before `until`. */
  def release(until: Long): Unit

  /** Removes a stored row; rows without holes allow only the oldest. */
  def remove(ordinal: Long): Unit

  /** Removes the row appended last; the next row gets the same ordinal. */
  def takeBack(): Unit

  /** Gives a stored row the bytes of the row appended last, and removes the latter. The row keeps
    * its ordinal and its arrival time.
    */
  def replace(ordinal: Long): Unit =
    throw new UnsupportedOperationException("rows of this store are never updated")
}
