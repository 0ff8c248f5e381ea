package winops.spark.state

import winops.storage.bytes.{ByteReader, ByteWriter}

/** The times of a table that a stream starts with.
  *
  * @param end
  *   the greatest time of the rows of the table, in milliseconds, or the later time up to which
  *   timers have fired in the state that it replaces; `Long.MinValue` without a time column and
  *   for an empty table
  * @param isSilent
  *   true if rows of the table, and timers that are due up to its end, have no output
  * @param isRead
  *   true in the micro-batch that reads the table
  */
final case class HistoryTimes(end: Long, isSilent: Boolean, isRead: Boolean) {

  /** Stores what later micro-batches need. */
  def save(out: ByteWriter): Unit = {
    out.number(end)
    out.number(if (isSilent) 1L else 0L)
  }
}

object HistoryTimes {

  /** Restores what [[HistoryTimes.save]] wrote.
    *
    * @throws winops.storage.bytes.CorruptStateException
    *   if the bytes are damaged
    */
  def restore(in: ByteReader): HistoryTimes =
    HistoryTimes(in.number(), isSilent = in.count(1) == 1, isRead = false)
}
