package winops.aggregation

import winops.storage.bytes.{ByteReader, ByteWriter}

/** The summary of the rows in the window of one group, while rows come in and leave.
  *
  * The rows of a step are told, in which order does not matter, and then [[total]] may be asked
  * for: every row in the window can be read then, and some that have left no longer.
  *
  * [[total]] depends on the rows in the window and their numbers alone, to the bit: not on when
  * it was asked for, nor on rows that have left, nor on a restart. Windows of at most
  * [[WindowSummary.FoldedRows]] rows are folded row by row, oldest to newest. In larger ones
  * stretches of rows are summed up before they are put together; where that overflows, all rows
  * are folded oldest to newest too.
  *
  * An instance is reused from group to group: [[restore]] or [[clear]] starts the next one.
  */
trait WindowSummary[S] {

  /** The rows from `from` until `until`, which are there without holes, come in. */
  def insert(from: Long, until: Long): Unit

  /** The rows from `from` until `until` leave. */
  def remove(from: Long, until: Long): Unit

  /** The summary of the rows in the window, in the order of their arrival; until the next call.
    */
  def total: S

  /** Goes through the rows in the window, in the order of their arrival. */
  def foreach(visit: Long => Unit): Unit

  def isEmpty: Boolean

  /** Starts with a group that has no rows. */
  def clear(): Unit

  /** Brings what is stored up to date, before the pages that hold it are written. */
  def settle(): Unit

  /** Stores what the pages do not; [[settle]] and the pages' own saving go before. */
  def save(out: ByteWriter): Unit
  def restore(in: ByteReader): Unit
}

object WindowSummary {

  /** The rows of a window of up to this many are added one by one, oldest to newest. */
  val FoldedRows = 32
}
