package winops.storage.rows

/** The rows of one group as the machine sees them: in arrival order, under ordinals that count
  * the group's rows and never change, each with the instant of its arrival in milliseconds.
  */
trait Rows {

  /** The ordinal after the newest row's. */
  def end: Long

  /** The ordinal of the oldest row that is there; [[end]] if none is. */
  def first: Long

  /** The ordinal of the oldest row that is there and newer than `ordinal`; [[end]] if none is. */
  def next(ordinal: Long): Long

  /** The ordinal of the newest row that is there and older than `ordinal`; -1 if none is. */
  def previous(ordinal: Long): Long

  /** When the row arrived, in milliseconds. */
  def arrival(ordinal: Long): Long

  /** Forgets the rows before `until`. */
  def release(until: Long): Unit

  /** Forgets a row that is there; rows without holes forget only their oldest. */
  def remove(ordinal: Long): Unit

  /** Forgets the row that was appended last, as if it had never been; its ordinal is given again.
    */
  def takeBack(): Unit
}
