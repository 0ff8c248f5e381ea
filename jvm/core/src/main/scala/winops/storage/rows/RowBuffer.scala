package winops.storage.rows

import java.util.Arrays

import winops.storage.bytes.{ByteReader, ByteWriter, Bytes, CorruptStateException, PackedRow}

/** Stores consecutive rows in one array, numbered from 0.
  *
  * @param withArrival
  *   true if arrival times are stored; otherwise [[arrival]] is 0
  */
private[winops] final class RowBuffer(withArrival: Boolean) {
  private val header = if (withArrival) 12 else 4

  private var content = new Array[Byte](1 << 12)
  private var used = 0
  private var offsets = new Array[Int](64)
  private var rows = 0

  def count: Int = rows

  /** The array that positions refer to; the next append may replace it. */
  def bytes: Array[Byte] = content

  def position(row: Int): Int = offsets(row) + header
  def length(row: Int): Int = Bytes.getInt(content, offsets(row))

  def arrival(row: Int): Long =
    if (withArrival) Bytes.getLong(content, offsets(row) + Integer.BYTES) else 0L

  /** Returns true if a row of `length` bytes fits without growing the array. */
  def hasRoomFor(length: Int): Boolean = needed(length) <= content.length

  /** Grows the array to twice the needed size, unless a further row of `length` bytes leaves it
    * at most half full.
    */
  def reserve(length: Int): Unit =
    if (needed(length) > content.length / 2) {
      content = Arrays.copyOf(content, Bytes.roomFor(needed(length)))
    }

  /** Adds a row of `length` bytes and returns the position at which to write it. */
  def append(arrival: Long, length: Int): Int = {
    if (!hasRoomFor(length)) reserve(length)
    if (rows == offsets.length) offsets = Arrays.copyOf(offsets, rows * 2)
    offsets(rows) = used
    Bytes.putInt(content, used, length)
    if (withArrival) Bytes.putLong(content, used + Integer.BYTES, arrival)
    val at = used + header
    used = at + length
    rows += 1
    at
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
    used = offsets(rows)
  }

  /** Drops the first `count` rows; the numbers of the others shrink by `count`. */
  def dropFirst(count: Int): Unit =
    if (count == rows) clear()
    else {
      val from = offsets(count)
      System.arraycopy(content, from, content, 0, used - from)
      used -= from
      rows -= count
      var i = 0
      while (i < rows) {
        offsets(i) = offsets(i + count) - from
        i += 1
      }
    }

  def clear(): Unit = {
    rows = 0
    used = 0
  }

  /** Returns true if the first `count` rows have one length, and the form predicts their arrival
    * times if it predicts any. [[write]] then needs no lengths and times of each row.
    */
  def areAlike(count: Int, form: RowForm): Boolean = {
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
    * @param alike
    *   true if the rows [[areAlike]] and are written so
    */
  def write(
      out: ByteWriter,
      count: Int,
      form: RowForm = RowForm.Unknown,
      before: Array[Byte] = Array.emptyByteArray,
      alike: Boolean = false): Unit = {
    val predictsTimes = withArrival && form.hasTimes
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
      if (withArrival && !predictsTimes) {
        out.number(arrival(row) - arrivalBefore)
        arrivalBefore = arrival(row)
      }
      val target = out.roomFor(PackedRow.roomFor(bytes))
      out.end = PackedRow
        .write(content, at, bytes, rowBefore, positionBefore, rowLengthBefore, target, out.end)
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
      alike: Boolean = false): Unit = {
    clear()
    val predictsTimes = withArrival && form.hasTimes
    var lengthBefore = 0L
    var arrivalBefore = 0L
    var row = 0
    while (row < count) {
      val length = lengthBefore + (if (!alike || row == 0) in.number() else 0L)
      // A packed row takes at least half a byte for each of its words.
      val most = Math.min(in.remaining * 2L * PackedRow.WordBytes, Bytes.MaxArray.toLong)
      if (length < 0 || length > most) {
        throw new CorruptStateException(s"stored row ${row + 1} of $count has $length bytes")
      }
      if (withArrival && !predictsTimes) arrivalBefore += in.number()
      val at = append(arrivalBefore, length.toInt)
      in.position = PackedRow.read(
        in.bytes,
        in.position,
        in.end,
        content,
        at,
        length.toInt,
        if (row == 0) before else content,
        if (row == 0) 0 else position(row - 1),
        if (row == 0) before.length else lengthBefore.toInt)
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
    Bytes.putLong(content, offsets(row) + Integer.BYTES, arrival)

  // Rows are unpacked in whole words, so one word of room is kept behind the last row.
  private def needed(length: Int): Long =
    used.toLong + header + length + PackedRow.WordBytes
}
