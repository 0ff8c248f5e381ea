package winops.spark.group

import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException, Segments}
import winops.storage.rows.RowLog
import winops.window.time.Clock

/** The places of the unsorted rows that are released next, with their times.
  *
  * To find a row that is due, a release would otherwise read all unsorted rows. A schedule has
  * the next [[ReleaseSchedule.MostRows]] of them. It is an entry beside the runs of rows, written
  * once for all of its rows, and stays until they have been released. Which of them have been is
  * known by their times.
  *
  * No unsorted row before [[end]] precedes the last row of the schedule, unless it is in the
  * schedule. Rows that arrive later are not in it, so it knows how many of its rows precede them.
  *
  * Its times are milliseconds. It is not used for a release up to a time within a millisecond,
  * which only a flush needs.
  *
  * @param segments
  *   stores the entry of the open group
  */
private[group] final class ReleaseSchedule(segments: Segments) {
  import ReleaseSchedule._

  private var active = false

  /** The number of rows of the schedule that no later row precedes. */
  private var beforeLater = 0

  /** The earliest time of later rows that have been appended since the schedule was last read;
    * [[Never]] if there is none.
    */
  private var laterFirst = Never

  /** The schedule; null if it has not been read. */
  private var read: Content = _

  /** True if there is a schedule. */
  def isActive: Boolean = active

  /** Starts with a group without a schedule. */
  def begin(): Unit = {
    active = false
    read = null
  }

  /** Removes the schedule. */
  def remove(): Unit = {
    if (active) segments.remove(Number)
    begin()
  }

  /** Replaces the schedule.
    *
    * @param rows
    *   the rows in the order of their times, at most [[ReleaseSchedule.MostRows]]
    * @param end
    *   the ordinal behind the rows among which they were chosen
    */
  def replace(rows: Array[ScheduledRow], end: Long): Unit = {
    active = true
    beforeLater = rows.length
    laterFirst = Never
    read = new Content(rows, end)
    segments.put(Number, read.toBytes)
  }

  /** The ordinal behind the rows among which those of the schedule were chosen. */
  def end: Long = content.end

  /** Returns true if the schedule has all unsorted rows before [[end]] that are released before a
    * time in microseconds, and a further one.
    */
  def covers(before: Long): Boolean =
    active && before % Clock.MicrosPerMilli == 0 &&
      content.rows.last.time >= before / Clock.MicrosPerMilli

  /** The rows of the schedule with times from one on until another. */
  def between(from: Long, until: Long): Array[ScheduledRow] =
    content.rows.filter(row => row.time >= from && row.time < until)

  /** The time of the first row of the schedule that is not before a time which it covers. */
  def next(before: Long): Long = content.rows(rowsBefore(before)).time

  /** Returns true if a row from [[end]] on may precede the [[next]] row of the schedule. */
  def mayLaterPrecede(before: Long): Boolean = {
    // Reading the schedule may lower `beforeLater`.
    val scheduled = rowsBefore(before)
    beforeLater <= scheduled
  }

  /** Takes note of the time of a row that has been appended. */
  def appended(time: Long): Unit = if (active) {
    if (read == null) laterFirst = Math.min(laterFirst, time)
    else beforeLater = Math.min(beforeLater, rowsUntil(time))
  }

  /** Sets the earliest time of the rows from [[end]] on, or a time after the schedule. */
  def laterFrom(time: Long): Unit = beforeLater = rowsUntil(time)

  /** Writes what changes while rows are released and appended.
    *
    * @param firstTime
    *   the earliest time of an unsorted row
    */
  def save(out: ByteWriter, firstTime: Long): Unit =
    if (laterFirst == Never) out.number(beforeLater.toLong)
    else {
      // The schedule has not been read, and is not read for this alone. Few of these times are
      // among those of the schedule, so a bound of one byte is enough.
      out.number(-1L - beforeLater)
      out.byte(java.lang.Long.SIZE - java.lang.Long.numberOfLeadingZeros(laterFirst - firstTime))
    }

  /** Restores what [[save]] wrote with the same time.
    *
    * @throws winops.storage.bytes.CorruptStateException
    *   if no schedule has so many rows, or no time has the bound
    */
  def restore(in: ByteReader, firstTime: Long): Unit = {
    val number = in.number()
    val hasTime = number < 0
    active = true
    read = null
    val rows = if (hasTime) -1L - number else number
    val bits = if (hasTime) in.byte() else 0
    if (rows > MostRows || bits < 0 || bits >= java.lang.Long.SIZE) {
      throw new CorruptStateException(s"$rows scheduled rows precede one within $bits bits")
    }
    beforeLater = rows.toInt
    laterFirst = if (hasTime) firstTime + (1L << bits >>> 1) else Never
  }

  private def rowsBefore(time: Long): Int = content.rows.count(_.time < time)

  private def rowsUntil(time: Long): Int = content.rows.count(_.time <= time)

  private def content: Content = {
    if (read == null) {
      read = Content.of(segments.get(Number))
      if (beforeLater > read.rows.length) {
        throw new CorruptStateException(
          s"$beforeLater of ${read.rows.length} scheduled rows precede the others")
      }
      beforeLater = Math.min(beforeLater, rowsUntil(laterFirst))
      laterFirst = Never
    }
    read
  }
}

private[group] object ReleaseSchedule {

  /** A time after all rows, in milliseconds. */
  private val Never = Long.MaxValue

  /** The number of rows in a schedule at most. More rows cost more bytes at each release, as it
    * reads the schedule whole; for fewer, all unsorted rows are read more often.
    */
  val MostRows = 48

  /** The number of the entry, above those of runs. */
  val Number: Long = RowLog.FirstRun + (1L << 55)

  /** A number of which the stored form is as long as that of half of another one, which is not
    * negative: the bit for the sign is one more bit of the number.
    */
  private def halved(number: Long): Long = (number >>> 1) ^ -(number & 1)

  /** The number of which one is [[halved]]. */
  private def doubled(half: Long): Long = (half << 1) ^ (half >> 63)

  private final class Content(val rows: Array[ScheduledRow], val end: Long) {
    def toBytes: Array[Byte] = {
      val out = new ByteWriter
      out.number(rows.length.toLong)
      out.number(end)
      out.number(rows.head.time)
      rows.foldLeft(rows.head.time) { (before, row) =>
        out.number(halved(row.time - before))
        out.number(halved(end / ScheduledRow.BlockRows - row.block))
        row.time
      }
      out.toArray
    }
  }

  private object Content {

    /** Reads a schedule.
      *
      * @throws winops.storage.bytes.CorruptStateException
      *   if the bytes are none
      */
    def of(bytes: Array[Byte]): Content = {
      if (bytes == null) {
        throw new CorruptStateException("the schedule of waiting rows is missing")
      }
      val in = new ByteReader(bytes)
      val count = in.count(MostRows.toLong).toInt
      val end = in.count(Long.MaxValue)
      var time = in.number()
      val rows = Array.fill(count) {
        time += doubled(in.number())
        ScheduledRow(time, end / ScheduledRow.BlockRows - doubled(in.number()))
      }
      in.finish()
      if (count == 0 || !(1 until count).forall(i => rows(i - 1) < rows(i))) {
        throw new CorruptStateException(s"$count scheduled rows are not in order")
      }
      new Content(rows, end)
    }
  }
}
