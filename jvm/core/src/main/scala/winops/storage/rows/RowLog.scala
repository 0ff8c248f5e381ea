package winops.storage.rows

import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException, Segments}

/** Stores the rows of one group in arrival order. Rows are appended at the end, released from the
  * front, and found by ordinal in constant time.
  *
  * The newest rows are in an open buffer, which is stored in the group's own value. Older rows
  * are in [[RowRuns]]: each is stored there at most twice, and only the oldest run is read when
  * rows are released. The cost of a row does therefore not depend on the length of the window. A
  * window that two micro-batches replace whole stays in the group's own value.
  *
  * An instance is reused from group to group: [[restore]] or [[clear]] starts the next group.
  *
  * @param segments
  *   stores the runs of the open group
  * @param withArrival
  *   true if arrival times are stored; otherwise [[arrival]] is 0
  * @param rowCheck
  *   checks each row that is found, if an earlier micro-batch has stored it
  * @param form
  *   predicts the rows
  * @param longestRun
  *   number of rows in a run at most, a power of two, by the number of rows that a micro-batch
  *   appends; a run is read whole for each of its rows
  */
final class RowLog(
    segments: Segments,
    withArrival: Boolean,
    rowCheck: RowCheck = RowCheck.Nothing,
    form: RowForm = RowForm.Unknown,
    longestRun: Long => Int = _ => RowLog.LongestRun)
    extends RowStore {
  import RowLog._

  private val open = new RowBuffer(withArrival)
  private val runs = new RowRuns(segments, withArrival, form)
  private var firstOrdinal = 0L

  // The ordinals at the beginning of the micro-batch.
  private var firstBefore = 0L
  private var endBefore = 0L

  /** True if the last micro-batch changed few of the rows. */
  private var wasCalm = false

  private var found = open
  private var foundRow = 0

  override def first: Long = firstOrdinal
  override def end: Long = runs.end + open.count
  override def next(ordinal: Long): Long = ordinal + 1
  override def previous(ordinal: Long): Long = if (ordinal > firstOrdinal) ordinal - 1 else -1L
  override def contains(ordinal: Long): Boolean = ordinal >= firstOrdinal && ordinal < end
  override def size: Long = end - firstOrdinal

  /** The time of the newest row as the form predicts it, in milliseconds; `orElse` if the row is
    * in a run or the form predicts no times.
    */
  def newestTime(orElse: Long): Long = {
    val newest = open.count - 1
    if (newest < 0 || !form.hasTimes || open.length(newest) < form.leastLength) orElse
    else form.timeOf(open.bytes, open.position(newest))
  }

  /** Returns true if a row is in the group's own value, and no run is read to find it. */
  def isOpen(ordinal: Long): Boolean = ordinal >= runs.end

  override def clear(): Unit = restart(0L)

  override def append(arrival: Long, length: Int): Int = {
    if (open.count >= MaxOpenRows) {
      dropReleased()
      val longest = runLength
      while (open.count > MaxOpenRows / 2) {
        val _ = fillRun(longest)
      }
    }
    if (!open.hasRoomFor(length)) {
      dropReleased()
      open.reserve(length)
    }
    open.append(arrival, length)
  }

  override def target: Array[Byte] = open.bytes

  override def arrival(ordinal: Long): Long =
    if (withArrival) {
      find(ordinal)
      found.arrival(foundRow)
    } else 0L

  override def find(ordinal: Long): Unit = {
    if (ordinal >= runs.end) {
      if (ordinal >= end) {
        throw new CorruptStateException(s"there is no row $ordinal, the newest is ${end - 1}")
      }
      found = open
      foundRow = (ordinal - runs.end).toInt
    } else {
      val run = runs.find(ordinal)
      found = run.rows
      foundRow = run.indexOf(ordinal)
    }
    // Only rows that were stored before may be damaged.
    if (ordinal < endBefore) rowCheck.check(rowBytes, rowPosition, rowLength)
  }

  override def rowBytes: Array[Byte] = found.bytes
  override def rowPosition: Int = found.position(foundRow)
  override def rowLength: Int = found.length(foundRow)

  override def release(until: Long): Unit = {
    if (firstOrdinal < runs.end) runs.release(until)
    firstOrdinal = until
  }

  override def remove(ordinal: Long): Unit = {
    if (ordinal != firstOrdinal) {
      throw new CorruptStateException(s"row $ordinal is not the oldest, which is $firstOrdinal")
    }
    release(ordinal + 1)
  }

  override def takeBack(): Unit = open.dropLast()

  override def skipTo(ordinal: Long): Unit = if (ordinal > end) {
    require(size == 0, s"rows end at $end, before $ordinal")
    restart(ordinal)
  }

  override def discard(): Unit = {
    release(end)
    restart(0L)
  }

  /** Moves rows into runs, then writes the open buffer and what locates the runs. */
  override def save(out: ByteWriter): Unit = {
    dropReleased()
    moveIntoRuns()
    runs.save(out, firstOrdinal)
    val layout = open.layout(open.count, form, form.beforeValue)
    out.number((open.count.toLong << RowLayout.Bits | layout) << 1 | (if (wasCalm) 1L else 0L))
    open.write(out, open.count, form, form.beforeValue, layout)
    firstBefore = firstOrdinal
    endBefore = end
  }

  override def restore(in: ByteReader): Unit = {
    val first = runs.restore(in)
    val number = in.count((in.remaining + 1L << RowLayout.Bits + 1) - 1)
    val count = number >> RowLayout.Bits + 1
    val layout = (number >> 1).toInt & RowLayout.Greatest
    open.read(in, count.toInt, form, form.beforeValue, layout)
    begin(first)
    wasCalm = (number & 1) == 1
  }

  private def restart(first: Long): Unit = {
    open.clear()
    runs.clear(first)
    begin(first)
  }

  private def begin(first: Long): Unit = {
    firstOrdinal = first
    firstBefore = first
    endBefore = end
    wasCalm = false
  }

  /** Drops the released rows from the open buffer. */
  private def dropReleased(): Unit =
    if (firstOrdinal > runs.end) {
      open.dropFirst((firstOrdinal - runs.end).toInt)
      runs.skipTo(firstOrdinal)
    }

  private def runLength: Int = {
    val appended = end - endBefore
    val length = RunLengths.of(appended, firstOrdinal - firstBefore)
    // Rows that leave the group's own value together do so in few entries.
    val least = if (open.count > MostBeforeRuns) RunLengths.LongestFilled else length
    Math.min(longestRun(appended), Math.max(length, least))
  }

  private def moveIntoRuns(): Unit = {
    val appended = end - endBefore
    val isCalm = size > 2 * Math.max(appended, firstOrdinal - firstBefore)
    // Without new rows, one such micro-batch may be that in which rows wait for the watermark.
    val fewStay = isCalm && (appended > 0 || wasCalm)
    wasCalm = isCalm
    val longest = runLength
    if (!fewStay) {
      while (open.count > MaxInlineRows && fillRun(longest)) {}
    } else {
      while (fillRun(longest)) {}
      val isHalf = open.count >= ShortestRun / 2
      if (longest == ShortestRun && isHalf && !runs.isUnfilled) move(open.count)
    }
  }

  /** Moves rows into the newest run if they fill it. */
  private def fillRun(longest: Int): Boolean = {
    val start = runs.newestStart
    val length = if (runs.isUnfilled) ShortestRun else RunLengths.at(start, longest)
    val missing = (start + length - runs.end).toInt
    val fills = open.count >= missing
    if (fills) move(missing)
    fills
  }

  private def move(rows: Int): Unit = {
    runs.append(open, rows, firstOrdinal)
    open.dropFirst(rows)
  }
}

object RowLog {

  /** The number of rows in the longest runs. */
  val LongestRun = 128

  /** The number of rows in the shortest runs, of groups with few rows in each micro-batch. Fewer
    * rows would cost an entry's key again and again, more are read again for each row that
    * leaves.
    */
  val ShortestRun = 8

  /** Maximum number of rows in a group's own value. */
  val MaxInlineRows = 256

  /** The number of the run that begins at row 0. The numbers of runs, and of the values of
    * aggregates, have this bit; those of pages do not.
    */
  val FirstRun: Long = 1L << 56

  private val MaxOpenRows = 1024

  /** The number of rows that stay in the open buffer at most beside those of the micro-batch, if
    * few of a group's rows are new in each.
    */
  private val MostBeforeRuns = 4 * ShortestRun
}
