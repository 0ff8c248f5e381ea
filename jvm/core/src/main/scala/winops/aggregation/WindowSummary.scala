package winops.aggregation

import winops.storage.bytes.{ByteReader, ByteWriter}

/** Maintains the summary of the rows in one group's window while rows are inserted and removed.
  *
  * The caller passes the rows of a step, in any order, and may then read [[total]]. Every row in
  * the window must be readable then; rows that have left need not be.
  *
  * [[total]] depends only on the rows in the window and their numbers, to the bit. Earlier reads,
  * rows that have left and restarts have no influence. Windows of at most
  * [[WindowSummary.FoldedRows]] rows are folded row by row, oldest to newest. Larger windows
  * merge summaries of ranges of rows; if that overflows or may overflow, all rows are folded
  * oldest to newest.
  *
  * An instance is reused from group to group: [[restore]] or [[clear]] starts the next group.
  *
  * @tparam S
  *   a summary
  */
trait WindowSummary[S] {

  /** Inserts the rows from `from` until `until`, which have no holes. */
  def insert(from: Long, until: Long): Unit

  /** Removes the rows from `from` until `until`. */
  def remove(from: Long, until: Long): Unit

  /** The summary of the rows in the window, in arrival order; valid until the next call. */
  def total: S

  /** Visits the rows in the window, in arrival order. */
  def foreach(visit: Long => Unit): Unit

  def isEmpty: Boolean

  /** Starts with a group that has no rows. */
  def clear(): Unit

  /** Updates the stored summaries; the caller writes the pages that hold them afterwards. */
  def settle(): Unit

  /** Stores the state that the pages do not contain. The caller calls [[settle]] and saves the
    * pages first.
    */
  def save(out: ByteWriter): Unit
  def restore(in: ByteReader): Unit
}

object WindowSummary {

  /** Maximum number of rows that are folded one by one, oldest to newest. */
  val FoldedRows = 32
}
