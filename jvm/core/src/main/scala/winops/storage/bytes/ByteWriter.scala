package winops.storage.bytes

/** Appends values to a growing byte array. A writer is reused from group to group. */
final class ByteWriter {
  private var bytes = new Array[Byte](1 << 10)
  private var length = 0

  def clear(): Unit = length = 0

  /** Makes room for `count` more bytes and returns the array, to write to from [[end]] on. */
  private[storage] def roomFor(count: Long): Array[Byte] = {
    ensure(count)
    bytes
  }

  /** The position of the next byte. */
  private[storage] def end: Int = length
  private[storage] def end_=(at: Int): Unit = length = at

  /** A copy of the written bytes. */
  def toArray: Array[Byte] = java.util.Arrays.copyOf(bytes, length)

  /** Writes the low byte of `value`. */
  def byte(value: Int): Unit = {
    ensure(1)
    bytes(length) = value.toByte
    length += 1
  }

  /** Writes a number as a zig-zag variable-length integer of 1 to 10 bytes. */
  def number(value: Long): Unit = {
    ensure(10)
    var rest = (value << 1) ^ (value >> 63)
    while ((rest & ~0x7fL) != 0) {
      bytes(length) = ((rest & 0x7f) | 0x80).toByte
      length += 1
      rest >>>= 7
    }
    bytes(length) = rest.toByte
    length += 1
  }

  /** Writes `count` bytes of `source` from position `from` on. */
  def raw(source: Array[Byte], from: Int, count: Int): Unit = {
    ensure(count.toLong)
    System.arraycopy(source, from, bytes, length, count)
    length += count
  }

  /** Writes all bytes of this writer to another one. */
  def writeTo(out: ByteWriter): Unit = out.raw(bytes, 0, length)

  /** Writes the number of bytes, then the bytes. */
  def block(source: Array[Byte]): Unit = {
    number(source.length.toLong)
    raw(source, 0, source.length)
  }

  /** Writes the number of bytes, then the bytes without most of the zeros in them. */
  def packed(source: Array[Byte]): Unit = {
    number(source.length.toLong)
    ensure(PackedRow.roomFor(source.length))
    length = PackedRow.write(source, 0, source.length, source, 0, 0, bytes, length)
  }

  private def ensure(more: Long): Unit = {
    val needed = length.toLong + more
    if (needed > bytes.length) bytes = java.util.Arrays.copyOf(bytes, Bytes.roomFor(needed))
  }
}
