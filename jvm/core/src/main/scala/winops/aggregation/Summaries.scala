package winops.aggregation

import winops.storage.bytes.{ByteReader, ByteWriter}

/** What is known of a stretch of rows, such as the buffers of aggregate functions: made of single
  * rows, or of two stretches of which one stands right behind the other. Nothing is ever taken
  * away from a summary, so none can hold what a row left behind.
  *
  * @tparam S
  *   a summary, which is changed in place
  */
trait Summaries[S] {

  /** A new summary, of no rows. */
  def create(): S

  /** Makes it the summary of no rows. */
  def clear(summary: S): Unit

  /** Adds the row with this ordinal at the end. */
  def add(summary: S, row: Long): Unit

  /** Adds the rows of another summary at the end; the other one stays as it is. */
  def append(summary: S, behind: S): Unit

  /** Makes `summary` the summary of a row and of a stretch behind it, which stays as it is. */
  def prepend(summary: S, row: Long, behind: S): Unit = {
    clear(summary)
    add(summary, row)
    append(summary, behind)
  }

  /** Makes `summary` the summary of two stretches, which stay as they are. */
  def join(summary: S, front: S, behind: S): Unit = {
    clear(summary)
    append(summary, front)
    append(summary, behind)
  }

  /** Returns true if some of the rows' values did not fit into their type when they were added up
    * in the order of this summary; in another order they may. A failure of [[add]], [[append]]
    * and the like with an `ArithmeticException` says the same.
    */
  def isOverflowed(summary: S): Boolean = false

  /** Returns true if a summary may change when it is appended to another one or evaluated, so
    * that rows that are added afterwards give another value than they would have given.
    */
  def changesWhenRead: Boolean = false

  def write(summary: S, out: ByteWriter): Unit
  def read(summary: S, in: ByteReader): Unit
}
