package winops.window

/** The rows of one group as the machine sees them: in arrival order, under ordinals that count
  * the group's rows and never change, each with the instant of its arrival in milliseconds.
  */
trait Rows {

  /** The ordinal after the newest row's. */
  def end: Long

  /** When the row arrived, in milliseconds. */
  def arrival(ordinal: Long): Long
}
