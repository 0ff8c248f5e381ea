package winops.spark.state

import winops.storage.bytes.{ByteReader, ByteWriter}

/** The times of a table that a stream starts with, or that replaces a state.
  *
  * @param end
  *   the time in milliseconds after which no row of the table waits and no timer is silent;
  *   `Long.MinValue` without a time column and for an empty table
  * @param isSilent
  *   true if rows of the table, and timers up to [[silentUntil]], have no output
  * @param isRead
  *   true in the micro-batch that reads the table
  * @param passed
  *   the instant in milliseconds up to which timers of all groups had fired in the state that the
  *   table replaces; None if there was no state
  */
final case class HistoryTimes(
    end: Long,
    isSilent: Boolean,
    isRead: Boolean,
    passed: Option[Long] = None) {

  /** The instant up to which timers are silent in every group. */
  def silentUntil: Long = passed.getOrElse(end)

  /** Stores what later micro-batches need. */
  def save(out: ByteWriter): Unit = {
    out.number(end)
    out.number((if (isSilent) 1L else 0L) + (if (passed.isDefined) 2L else 0L))
    passed.foreach(out.number)
  }
}

object HistoryTimes {

  /** Restores what [[HistoryTimes.save]] wrote.
    *
    * @throws winops.storage.bytes.CorruptStateException
    *   if the bytes are damaged
    */
  def restore(in: ByteReader): HistoryTimes = {
    val end = in.number()
    val flags = in.count(3)
    val passed = Option.when((flags & 2) != 0)(in.number())
    HistoryTimes(end, isSilent = (flags & 1) != 0, isRead = false, passed)
  }
}
