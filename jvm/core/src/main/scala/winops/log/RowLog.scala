package winops.log

/** The rows of one group in arrival order: appended at the end, released from the front, and
  * found by ordinal in constant time.
  *
  * The newest rows are in an open buffer. Older ones, when there are many, are sealed into
  * segments of [[RowLog.SegmentRows]] rows that are written once and removed once, so that a row
  * costs the same in a window of ten rows and of a million. Segment number is ordinal / rows per
  * segment.
  *
  * An instance is reused from group to group: [[restore]] or [[clear]] starts the next one.
  *
  * @param segments
  *   keeps the sealed rows of the current group
  * @param withArrival
  *   whether arrival times are kept; without them [[arrival]] is 0
  */
final class RowLog(segments: Segments, withArrival: Boolean) extends RowStore {
  import RowLog._

  private val entryHeader = if (withArrival) 12 else 4

  private var open = new Array[Byte](1 << 12)
  private var openEnd = 0
  private var offsets = new Array[Int](64)
  private var openFirst = 0L
  private var endOrdinal = 0L
  private var firstOrdinal = 0L

  private var loaded: Array[Byte] = _
  private var loadedNumber = NoSegment
  private var loadedFirst = 0
  private val loadedOffsets = new Array[Int](SegmentRows)

  private var bytesFound: Array[Byte] = _
  private var positionFound = 0

  override def first: Long = firstOrdinal
  override def end: Long = endOrdinal
  override def next(ordinal: Long): Long = ordinal + 1
  override def previous(ordinal: Long): Long = if (ordinal > firstOrdinal) ordinal - 1 else -1L
  override def size: Long = endOrdinal - firstOrdinal

  override def clear(): Unit = restart(0L)

  override def append(arrival: Long, length: Int): Int = {
    if (endOrdinal - openFirst >= MaxOpenRows) makeRoomForRows()
    if (openEnd.toLong + entryHeader + length > open.length) makeRoomForBytes(length)
    // Making room may have dropped released rows, and with them moved the others.
    val index = (endOrdinal - openFirst).toInt
    if (index == offsets.length) offsets = java.util.Arrays.copyOf(offsets, index * 2)
    offsets(index) = openEnd
    Bytes.putInt(open, openEnd, length)
    if (withArrival) Bytes.putLong(open, openEnd + 4, arrival)
    val position = openEnd + entryHeader
    openEnd = position + length
    endOrdinal += 1
    position
  }

  override def target: Array[Byte] = open

  override def arrival(ordinal: Long): Long =
    if (withArrival) {
      find(ordinal)
      Bytes.getLong(bytesFound, positionFound + 4)
    } else 0L

  override def find(ordinal: Long): Unit =
    if (ordinal >= openFirst) {
      bytesFound = open
      positionFound = offsets((ordinal - openFirst).toInt)
    } else {
      val number = ordinal / SegmentRows
      if (number != loadedNumber) load(number)
      val index = (ordinal % SegmentRows).toInt
      if (index < loadedFirst) {
        throw new CorruptStateException(s"segment $number does not have row $ordinal")
      }
      bytesFound = loaded
      positionFound = loadedOffsets(index)
    }

  override def rowBytes: Array[Byte] = bytesFound
  override def rowPosition: Int = positionFound + entryHeader
  override def rowLength: Int = Bytes.getInt(bytesFound, positionFound)

  override def release(until: Long): Unit = {
    if (firstOrdinal < openFirst) {
      var number = firstOrdinal / SegmentRows
      val stop = Math.min(until, openFirst) / SegmentRows
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

  override def takeBack(): Unit = {
    endOrdinal -= 1
    openEnd = offsets((endOrdinal - openFirst).toInt)
  }

  override def discard(): Unit = {
    release(endOrdinal)
    restart(0L)
  }

  /** Seals what is too much for the open buffer and writes the rest, with what finds the sealed.
    */
  override def save(out: ByteWriter): Unit = {
    dropReleased()
    while (endOrdinal - openFirst > MaxInlineRows) sealOldest()
    out.number(firstOrdinal)
    out.number(openFirst)
    out.number(endOrdinal)
    val from = if (openFirst == endOrdinal) openEnd else offsets(0)
    out.number((openEnd - from).toLong)
    out.raw(open, from, openEnd - from)
  }

  override def restore(in: ByteReader): Unit = {
    val first = in.count(Long.MaxValue)
    val openFrom = in.count(Long.MaxValue)
    val end = in.count(Long.MaxValue)
    val length = in.length()
    val sealedEndsInside = first < openFrom && openFrom % SegmentRows != 0
    if (first > end || openFrom > end || end - openFrom > length || sealedEndsInside) {
      throw new CorruptStateException(s"row log from $first, open from $openFrom, to $end")
    }
    restart(first)
    openFirst = openFrom
    endOrdinal = end
    if (open.length < length) open = new Array[Byte](Bytes.roomFor(length.toLong))
    System.arraycopy(in.bytes, in.position, open, 0, length)
    in.skip(length)
    openEnd = length
    val count = (end - openFrom).toInt
    if (offsets.length < count) offsets = new Array[Int](Integer.highestOneBit(count) * 2)
    scan(open, 0, length, offsets, 0, count)
  }

  private def restart(first: Long): Unit = {
    openEnd = 0
    firstOrdinal = first
    openFirst = first
    endOrdinal = first
    unload()
  }

  private def unload(): Unit = {
    loaded = null
    loadedNumber = NoSegment
  }

  private def makeRoomForRows(): Unit = {
    dropReleased()
    while (endOrdinal - openFirst > MaxOpenRows / 2) sealOldest()
  }

  private def makeRoomForBytes(length: Int): Unit = {
    dropReleased()
    val needed = openEnd.toLong + entryHeader + length
    if (needed > open.length / 2) open = java.util.Arrays.copyOf(open, Bytes.roomFor(needed))
  }

  /** Moves the rows that are still needed to the start of the open buffer. */
  private def dropReleased(): Unit =
    if (firstOrdinal > openFirst) dropOpen((firstOrdinal - openFirst).toInt)

  private def dropOpen(rows: Int): Unit = {
    val count = (endOrdinal - openFirst).toInt
    val from = if (rows == count) openEnd else offsets(rows)
    System.arraycopy(open, from, open, 0, openEnd - from)
    openEnd -= from
    openFirst += rows
    var i = rows
    while (i < count) {
      offsets(i - rows) = offsets(i) - from
      i += 1
    }
  }

  /** Seals the open rows up to the next boundary between segments. */
  private def sealOldest(): Unit = {
    val number = openFirst / SegmentRows
    val rows = ((number + 1) * SegmentRows - openFirst).toInt
    val start = offsets(0)
    val length = offsets(rows) - start
    val bytes = new Array[Byte](SegmentHeader + length)
    bytes(0) = SegmentVersion
    Bytes.putInt(bytes, 1, rows)
    System.arraycopy(open, start, bytes, SegmentHeader, length)
    segments.put(number, bytes)
    dropOpen(rows)
  }

  private def load(number: Long): Unit = {
    val bytes = segments.get(number)
    if (bytes == null || bytes.length < SegmentHeader || bytes(0) != SegmentVersion) {
      throw new CorruptStateException(s"segment $number is missing or of another version")
    }
    val rows = Bytes.getInt(bytes, 1)
    if (rows < 1 || rows > SegmentRows) {
      throw new CorruptStateException(s"segment $number says that it has $rows rows")
    }
    // A segment lacks the rows that were released before it was sealed, always at its front.
    unload()
    loadedFirst = SegmentRows - rows
    scan(bytes, SegmentHeader, bytes.length, loadedOffsets, loadedFirst, rows)
    loaded = bytes
    loadedNumber = number
  }

  private def scan(
      bytes: Array[Byte],
      from: Int,
      until: Int,
      into: Array[Int],
      at: Int,
      count: Int): Unit = {
    var position = from
    var i = 0
    while (i < count) {
      into(at + i) = position
      val length = if (until - position < entryHeader) -1 else Bytes.getInt(bytes, position)
      if (length < 0 || length > until - position - entryHeader) {
        throw new CorruptStateException(s"stored row ${i + 1} of $count is cut off")
      }
      position += entryHeader + length
      i += 1
    }
    if (position != until) {
      throw new CorruptStateException(s"${until - position} stored bytes follow the last row")
    }
  }
}

object RowLog {

  /** Rows in a sealed segment. */
  val SegmentRows = 128

  /** How many rows a group's own value holds at most before older ones are sealed. */
  val MaxInlineRows = 256

  private val MaxOpenRows = 1024
  private val SegmentVersion: Byte = 1
  private val SegmentHeader = 5
  private val NoSegment = -1L
}
