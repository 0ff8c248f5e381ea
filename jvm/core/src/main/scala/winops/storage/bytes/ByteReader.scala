package winops.storage.bytes

/** Reads the bytes that a [[ByteWriter]] wrote. Bytes that do not fit fail as a
  * [[CorruptStateException]].
  */
final class ByteReader(val bytes: Array[Byte]) {
  private var next = 0

  /** The position of the next byte. */
  def position: Int = next
  private[storage] def position_=(at: Int): Unit = next = at

  /** The position after the last byte. */
  private[storage] def end: Int = bytes.length

  def remaining: Int = bytes.length - next

  /** Reads a byte. */
  def byte(): Int = {
    need(1)
    next += 1
    bytes(next - 1).toInt
  }

  /** Reads a zig-zag variable-length integer. */
  def number(): Long = {
    var value = 0L
    var shift = 0
    var more = true
    while (more) {
      if (shift > 63) throw new CorruptStateException("a stored number is too long")
      val piece = byte()
      value |= (piece & 0x7fL) << shift
      shift += 7
      more = (piece & 0x80) != 0
    }
    (value >>> 1) ^ -(value & 1)
  }

  /** Reads a number of at least 0 and at most `limit`. */
  def count(limit: Long): Long = {
    val value = number()
    if (value < 0 || value > limit) {
      throw new CorruptStateException(s"a stored count of $value is not within 0 and $limit")
    }
    value
  }

  /** Reads the number of bytes that follow, at most [[remaining]]. */
  def length(): Int = lengthOf(number())

  private def lengthOf(value: Long): Int = {
    if (value < 0 || value > remaining) {
      throw new CorruptStateException(s"$value stored bytes expected, $remaining are there")
    }
    value.toInt
  }

  /** Reads bytes that follow their number. */
  def block(): Array[Byte] = block(number())

  /** Reads `length` bytes, at most [[remaining]]. */
  def block(length: Long): Array[Byte] = {
    val size = lengthOf(length)
    next += size
    java.util.Arrays.copyOfRange(bytes, next - size, next)
  }

  /** Reads bytes that [[ByteWriter.packed]] wrote. */
  def packed(): Array[Byte] = {
    // Packed bytes take at least half a byte for each word.
    val size = count(Math.min(remaining * 2L * PackedRow.WordBytes, Bytes.MaxArray.toLong)).toInt
    val room = new Array[Byte](size + PackedRow.WordBytes)
    next = PackedRow.read(bytes, next, bytes.length, room, 0, size, room, 0, 0)
    java.util.Arrays.copyOf(room, size)
  }

  /** Checks that all bytes have been read. */
  def finish(): Unit =
    if (remaining != 0) throw new CorruptStateException(s"$remaining stored bytes are left over")

  /** Skips `length` bytes. */
  def skip(length: Int): Unit = {
    need(length)
    next += length
  }

  private def need(length: Int): Unit =
    if (length < 0 || remaining < length) {
      throw new CorruptStateException(s"$length stored bytes expected, $remaining are there")
    }
}
