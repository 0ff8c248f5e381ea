package winops.storage.rows

import java.util.Arrays

import winops.storage.bytes.{ByteReader, ByteWriter, Bytes, CorruptStateException, PackedRow, SharedCodes}

/** Stores consecutive rows in one array, numbered from 0.
  *
  * @param withArrival
  *   true if arrival times are stored; otherwise [[arrival]] is 0
  */
private[winops] final class RowBuffer(withArrival: Boolean) {
  import RowBuffer._

  private val header = if (withArrival) 12 else 4

  private var content = new Array[Byte](1 << 12)
  private var used = 0
  private var offsets = new Array[Int](64)
  private var rows = 0

  /** The place in [[offsets]] of the first row. Dropped rows stay in the array until it is full.
    */
  private var head = 0

  /** The codes of all rows but the first, and of all rows. */
  private val codesOfOthers = new SharedCodes
  private val codesOfAll = new SharedCodes

  /** The number of rows, and the row before them, of which [[layout]] has found the codes; used
    * by the next [[write]] if the rows are the same.
    */
  private var coded = 0
  private var codedBefore: Array[Byte] = _

  def count: Int = rows

  /** The array that positions refer to; the next append may replace it. */
  def bytes: Array[Byte] = content

  def position(row: Int): Int = offsets(head + row) + header
  def length(row: Int): Int = Bytes.getInt(content, offsets(head + row))

  def arrival(row: Int): Long =
    if (withArrival) Bytes.getLong(content, offsets(head + row) + Integer.BYTES) else 0L

  /** Returns true if a row of `length` bytes fits without growing the array. */
  def hasRoomFor(length: Int): Boolean = needed(length) <= content.length

  /** Moves the rows to the beginning of the array. Grows it to twice the needed size, unless a
    * further row of `length` bytes leaves it at most half full.
    */
  def reserve(length: Int): Unit = {
    moveToFront()
    if (needed(length) > content.length / 2) {
      content = Arrays.copyOf(content, Bytes.roomFor(needed(length)))
    }
  }

  /** Adds a row of `length` bytes and returns the position at which to write it. */
  def append(arrival: Long, length: Int): Int = {
    if (!hasRoomFor(length)) reserve(length)
    if (head + rows == offsets.length) reserveOffset()
    coded = 0
    offsets(head + rows) = used
    Bytes.putInt(content, used, length)
    if (withArrival) Bytes.putLong(content, used + Integer.BYTES, arrival)
    val at = used + header
    used = at + length
    rows += 1
    at
  }

  private def reserveOffset(): Unit =
    if (head > rows) {
      System.arraycopy(offsets, head, offsets, 0, rows)
      head = 0
    } else offsets = Arrays.copyOf(offsets, offsets.length * 2)

  private def moveToFront(): Unit = {
    val from = if (rows == 0) used else offsets(head)
    if (from > 0) System.arraycopy(content, from, content, 0, used - from)
    used -= from
    var i = 0
    while (i < rows) {
      offsets(i) = offsets(head + i) - from
      i += 1
    }
    head = 0
  }

  /** Adds the first `count` rows of another buffer. */
  def appendFrom(other: RowBuffer, count: Int): Unit = {
    var row = 0
    while (row < count) {
      val at = append(other.arrival(row), other.length(row))
      System.arraycopy(other.bytes, other.position(row), content, at, other.length(row))
      row += 1
    }
  }

  /** Drops the last row. */
  def dropLast(): Unit = {
    rows -= 1
    used = offsets(head + rows)
    coded = 0
  }

  /** Drops the first `count` rows; the numbers of the others shrink by `count`. */
  def dropFirst(count: Int): Unit =
    if (count == rows) clear()
    else {
      head += count
      rows -= count
      coded = 0
    }

  def clear(): Unit = {
    head = 0
    rows = 0
    used = 0
    coded = 0
  }

  /** Returns the shortest of the [[RowLayout]]s in which [[write]] can write the first `count`
    * rows with the same form and row before; of many rows, by an estimate.
    */
  def layout(
      count: Int,
      form: RowForm = RowForm.Unknown,
      before: Array[Byte] = Array.emptyByteArray): Int =
    if (!areAlike(count, form) || count > 0 && length(0) == 0) RowLayout.Different
    else if (count < 2) RowLayout.Alike
    else shortestOfAlike(count, before)

  private def shortestOfAlike(count: Int, before: Array[Byte]): Int = {
    findCodes(count, before)
    coded = count
    codedBefore = before
    val codes = codesOfAll.codeBytes.toLong
    val ofFirst = PackedRow.sizeOfWords(content, position(0), length(0), before, 0, before.length)
    val own = (count - 1) * codes + sizeOfOthers(count)
    val others = sizeWith(codesOfOthers, count - 1)
    val all = sizeWith(codesOfAll, count)
    if (all - ofFirst - codes <= Math.min(others, own)) RowLayout.SharedCodes
    else if (others < own) RowLayout.SharedAfterFirst
    else RowLayout.Alike
  }

  /** The bytes of rows with shared codes. */
  private def sizeWith(codes: SharedCodes, rows: Int): Long =
    if (codes.areUsable) codes.codeBytes + rows.toLong * codes.rowBytes else Long.MaxValue

  /** The bytes of the words of the rows after the first one, with codes of their own; of many
    * rows, an estimate from some of them, at distances that vary.
    */
  private def sizeOfOthers(count: Int): Long = {
    val others = count - 1
    val measured = Math.min(others, MaxMeasuredRows)
    var size = 0L
    var i = 0
    while (i < measured) {
      val other = if (measured == others) i else (i * others + i * Stride % others) / measured
      val row = other + 1
      size += PackedRow
        .sizeOfWords(content, position(row), length(row), content, position(other), length(other))
      i += 1
    }
    size * others / measured
  }

  /** Finds the codes of the first `count` rows, which have one length. */
  private def findCodes(count: Int, before: Array[Byte]): Unit = {
    codesOfOthers.begin(length(0))
    var row = 1
    while (row < count) {
      val other = row - 1
      codesOfOthers
        .add(content, position(row), length(row), content, position(other), length(other))
      row += 1
    }
    codesOfOthers.choose()
    codesOfAll.beginWith(codesOfOthers, length(0))
    codesOfAll.add(content, position(0), length(0), before, 0, before.length)
    codesOfAll.choose()
  }

  private def areAlike(count: Int, form: RowForm): Boolean = {
    val hasTimes = withArrival && form.hasTimes
    var row = 0
    while (row < count && length(row) == length(0) &&
      (!hasTimes || arrival(row) == form.timeOf(content, position(row)))) {
      row += 1
    }
    row == count
  }

  /** Writes the first `count` rows, packed.
    *
    * @param form
    *   predicts the rows
    * @param before
    *   a row from which the first row differs in few bytes; it may be empty
    * @param layout
    *   what the rows have in common, one of the [[RowLayout]]s
    */
  def write(
      out: ByteWriter,
      count: Int,
      form: RowForm = RowForm.Unknown,
      before: Array[Byte] = Array.emptyByteArray,
      layout: Int = RowLayout.Different): Unit = {
    val predictsTimes = withArrival && form.hasTimes
    val alike = layout != RowLayout.Different
    val firstShared = RowLayout.firstShared(layout)
    val shared = if (firstShared == 0) codesOfAll else codesOfOthers
    if (firstShared < count && (coded != count || (codedBefore ne before))) {
      findCodes(count, before)
    }
    coded = 0
    var lengthBefore = 0
    var arrivalBefore = 0L
    var rowBefore = before
    var positionBefore = 0
    var rowLengthBefore = before.length
    var row = 0
    while (row < count) {
      val at = position(row)
      val bytes = length(row)
      if (!alike || row == 0) out.number((bytes - lengthBefore).toLong)
      if (row == firstShared) shared.save(out)
      if (withArrival && !predictsTimes) {
        out.number(arrival(row) - arrivalBefore)
        arrivalBefore = arrival(row)
      }
      val target = out.roomFor(PackedRow.roomFor(bytes))
      out.end =
        if (row >= firstShared) {
          shared
            .write(
              content,
              at,
              bytes,
              rowBefore,
              positionBefore,
              rowLengthBefore,
              target,
              out.end)
        } else {
          PackedRow
            .write(
              content,
              at,
              bytes,
              rowBefore,
              positionBefore,
              rowLengthBefore,
              target,
              out.end)
        }
      if (predictsTimes && !alike) out.number(arrival(row) - form.timeOf(content, at))
      lengthBefore = bytes
      rowBefore = content
      positionBefore = at
      rowLengthBefore = bytes
      row += 1
    }
  }

  /** Replaces the rows by `count` rows that [[write]] has written with the same arguments.
    *
    * @throws CorruptStateException
    *   if a row's length is not possible
    */
  def read(
      in: ByteReader,
      count: Int,
      form: RowForm = RowForm.Unknown,
      before: Array[Byte] = Array.emptyByteArray,
      layout: Int = RowLayout.Different): Unit = {
    clear()
    val predictsTimes = withArrival && form.hasTimes
    val alike = layout != RowLayout.Different
    val firstShared = RowLayout.firstShared(layout)
    val shared = codesOfAll
    var lengthBefore = 0L
    var arrivalBefore = 0L
    var row = 0
    while (row < count) {
      val length = lengthBefore + (if (!alike || row == 0) in.number() else 0L)
      // A packed row, or the codes of all rows, take at least half a byte for each word.
      val most =
        if (row > 0 && row >= firstShared) lengthBefore
        else Math.min(in.remaining * 2L * PackedRow.WordBytes, Bytes.MaxArray.toLong)
      if (length < 0 || length > most) {
        throw new CorruptStateException(s"stored row ${row + 1} of $count has $length bytes")
      }
      if (row == firstShared) shared.restore(in, length.toInt)
      if (withArrival && !predictsTimes) arrivalBefore += in.number()
      val at = append(arrivalBefore, length.toInt)
      val other = if (row == 0) before else content
      val otherAt = if (row == 0) 0 else position(row - 1)
      val otherLength = if (row == 0) before.length else lengthBefore.toInt
      in.position =
        if (row >= firstShared) {
          shared.read(in.bytes, in.position, in.end, content, at, other, otherAt, otherLength)
        } else {
          PackedRow.read(
            in.bytes,
            in.position,
            in.end,
            content,
            at,
            length.toInt,
            other,
            otherAt,
            otherLength)
        }
      if (predictsTimes) {
        if (length < form.leastLength) {
          throw new CorruptStateException(s"a stored row of $length bytes has no time")
        }
        setArrival(row, form.timeOf(content, at) + (if (alike) 0L else in.number()))
      }
      lengthBefore = length
      row += 1
    }
  }

  private def setArrival(row: Int, arrival: Long): Unit =
    Bytes.putLong(content, offsets(head + row) + Integer.BYTES, arrival)

  // Rows are unpacked in whole words, so one word of room is kept behind the last row.
  private def needed(length: Int): Long =
    used.toLong + header + length + PackedRow.WordBytes
}

private object RowBuffer {

  /** The most rows of which the size is measured to choose a layout. */
  val MaxMeasuredRows = 32

  /** A prime number, by which the distances of measured rows vary. */
  val Stride = 7919
}
