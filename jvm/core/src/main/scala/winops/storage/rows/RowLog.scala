package winops.storage.rows

import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException, Segments}

/** Stores the rows of one group in arrival order. Rows are appended at the end, released from the
  * front, and found by ordinal in constant time.
  *
  * The newest rows are in an open buffer. Once there are many, older rows are sealed into
  * segments of [[RowLog.SegmentRows]] rows. A segment is written once and removed once, so the
  * cost of a row does not depend on the length of the window. The number of a segment is the
  * ordinal of its rows divided by the rows of a segment.
  *
  * An instance is reused from group to group: [[restore]] or [[clear]] starts the next group.
  *
  * @param segments
  *   stores the sealed rows of the open group
  * @param withArrival
  *   true if arrival times are stored; otherwise [[arrival]] is 0
  * @param rowCheck
  *   checks each row that is found
  */
final class RowLog(
    segments: Segments,
    withArrival: Boolean,
    rowCheck: RowCheck = RowCheck.Nothing)
    extends RowStore {
  import RowLog._

  private val open = new RowBuffer(withArrival)
  private var openFirst = 0L
  private var firstOrdinal = 0L

  private val loaded = new RowBuffer(withArrival)
  private var loadedNumber = NoSegment
  private val writer = new ByteWriter

  private var found = open
  private var foundRow = 0

  override def first: Long = firstOrdinal
  override def end: Long = openFirst + open.count
  override def next(ordinal: Long): Long = ordinal + 1
  override def previous(ordinal: Long): Long = if (ordinal > firstOrdinal) ordinal - 1 else -1L
  override def size: Long = end - firstOrdinal

  override def clear(): Unit = restart(0L)

  override def append(arrival: Long, length: Int): Int = {
    if (open.count >= MaxOpenRows) {
      dropReleased()
      while (open.count > MaxOpenRows / 2) sealOldest()
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
    if (ordinal >= openFirst) {
      if (ordinal >= end) {
        throw new CorruptStateException(s"there is no row $ordinal, the newest is ${end - 1}")
      }
      found = open
      foundRow = (ordinal - openFirst).toInt
    } else {
      val number = ordinal / SegmentRows
      if (number != loadedNumber) load(number)
      found = loaded
      // A segment lacks the rows that were released before it was sealed, always at its front.
      foundRow = (ordinal % SegmentRows).toInt - (SegmentRows - loaded.count)
      if (foundRow < 0) {
        throw new CorruptStateException(s"segment $number does not have row $ordinal")
      }
    }
    rowCheck.check(rowBytes, rowPosition, rowLength)
  }

  override def rowBytes: Array[Byte] = found.bytes
  override def rowPosition: Int = found.position(foundRow)
  override def rowLength: Int = found.length(foundRow)

  override def release(until: Long): Unit = {
    if (firstOrdinal < openFirst) {
      var number = firstOrdinal / SegmentRows
      val stop = Math.min(until, openFirst) / SegmentRows
      if (stop - number > ManySegments && segments.get(stop - 1) == null) {
        throw new CorruptStateException(s"segments from $number to ${stop - 1} are not there")
      }
      while (number < stop) {
        segments.remove(number)
        if (number == loadedNumber) unload()
        number += 1
      }
    }
    firstOrdinal = until
  }

  override def remove(ordinal: Long): Unit = {
    require(ordinal == firstOrdinal, s"row $ordinal is not the oldest, which is $firstOrdinal")
    release(ordinal + 1)
  }

  override def takeBack(): Unit = open.dropLast()

  override def discard(): Unit = {
    release(end)
    restart(0L)
  }

  /** Seals rows until the open buffer has at most [[RowLog.MaxInlineRows]], then writes the
    * buffer and the ordinals that locate the sealed rows.
    */
  override def save(out: ByteWriter): Unit = {
    dropReleased()
    while (open.count > MaxInlineRows) sealOldest()
    out.number(firstOrdinal)
    out.number(openFirst)
    out.number(open.count.toLong)
    open.write(out, open.count)
  }

  override def restore(in: ByteReader): Unit = {
    val first = in.count(Long.MaxValue)
    val openFrom = in.count(Long.MaxValue)
    val count = in.count(in.remaining.toLong)
    val sealedEndsInside = first < openFrom && openFrom % SegmentRows != 0
    if (first > openFrom + count || sealedEndsInside) {
      throw new CorruptStateException(s"row log from $first, open from $openFrom, $count rows")
    }
    restart(first)
    openFirst = openFrom
    open.read(in, count.toInt)
  }

  private def restart(first: Long): Unit = {
    open.clear()
    firstOrdinal = first
    openFirst = first
    unload()
  }

  private def unload(): Unit = loadedNumber = NoSegment

  /** Drops the released rows from the open buffer. */
  private def dropReleased(): Unit =
    if (firstOrdinal > openFirst) dropOpen((firstOrdinal - openFirst).toInt)

  private def dropOpen(rows: Int): Unit = {
    open.dropFirst(rows)
    openFirst += rows
  }

  /** Seals the open rows up to the next segment boundary. */
  private def sealOldest(): Unit = {
    val number = openFirst / SegmentRows
    val rows = ((number + 1) * SegmentRows - openFirst).toInt
    writer.clear()
    writer.byte(SegmentVersion)
    writer.number(rows.toLong)
    open.write(writer, rows)
    segments.put(number, writer.toArray)
    dropOpen(rows)
  }

  private def load(number: Long): Unit = {
    unload()
    val bytes = segments.get(number)
    if (bytes == null || bytes.length == 0 || bytes(0) != SegmentVersion) {
      throw new CorruptStateException(s"segment $number is missing or of another version")
    }
    val in = new ByteReader(bytes)
    in.skip(1)
    loaded.read(in, in.count(SegmentRows.toLong).toInt)
    in.finish()
    loadedNumber = number
  }
}

object RowLog {

  /** Rows in a sealed segment. */
  val SegmentRows = 128

  /** Number of rows that a group's own value holds at most; older rows are sealed. */
  val MaxInlineRows = 256

  private val MaxOpenRows = 1024

  /** Number of segments from which on a release first checks that the last one exists, so that
    * damaged state does not remove endless segments.
    */
  private val ManySegments = 1024
  private val SegmentVersion = 2
  private val NoSegment = -1L
}
