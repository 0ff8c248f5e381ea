package winops.log

import java.lang.invoke.{MethodHandles, VarHandle}
import java.nio.ByteOrder

/** Fixed-width access to byte arrays, little-endian on every machine. */
private[winops] object Bytes {
  private val ints: VarHandle =
    MethodHandles.byteArrayViewVarHandle(classOf[Array[Int]], ByteOrder.LITTLE_ENDIAN)
  private val longs: VarHandle =
    MethodHandles.byteArrayViewVarHandle(classOf[Array[Long]], ByteOrder.LITTLE_ENDIAN)

  /** The longest array. */
  val MaxArray: Int = Int.MaxValue - 16

  /** How long an array has to be for so many bytes; more than [[MaxArray]] are a
    * [[TooManyBytesException]].
    */
  def lengthFor(bytes: Long): Int = {
    if (bytes > MaxArray) throw new TooManyBytesException(bytes)
    bytes.toInt
  }

  /** As [[lengthFor]], with room for more. */
  def roomFor(bytes: Long): Int = Math.min(lengthFor(bytes) * 2L, MaxArray.toLong).toInt

  def getInt(bytes: Array[Byte], at: Int): Int = ints.get(bytes, at)
  def putInt(bytes: Array[Byte], at: Int, value: Int): Unit = ints.set(bytes, at, value)
  def getLong(bytes: Array[Byte], at: Int): Long = longs.get(bytes, at)
  def putLong(bytes: Array[Byte], at: Int, value: Long): Unit = longs.set(bytes, at, value)

  /** The first eight of `length` bytes as a number, the first byte its highest; zeros stand for
    * those that are not there.
    */
  def getWord(bytes: Array[Byte], at: Int, length: Int): Long =
    if (length >= java.lang.Long.BYTES) java.lang.Long.reverseBytes(getLong(bytes, at))
    else if (length <= 0) 0L
    else {
      val missing = java.lang.Long.BYTES - length
      if (at >= missing) java.lang.Long.reverseBytes(getLong(bytes, at - missing)) << missing * 8
      else {
        var word = 0L
        var i = 0
        while (i < length) {
          word = word << 8 | bytes(at + i) & 0xff
          i += 1
        }
        word << missing * 8
      }
    }
}

/** Stored bytes do not have the form they should have: another version's, or damaged. */
final class CorruptStateException(message: String) extends RuntimeException(message)

/** Rows that stand in one array, or what is stored of them as one value, do not fit into it.
  *
  * @param bytes
  *   how many there are; an array has at most [[Bytes.MaxArray]]
  */
final class TooManyBytesException(val bytes: Long)
    extends RuntimeException(s"$bytes bytes do not fit in one array of ${Bytes.MaxArray}") {
  def most: Long = Bytes.MaxArray.toLong
}

/** Appends values to a growing byte array, which is reused from one group to the next. */
final class ByteWriter {
  private var bytes = new Array[Byte](1 << 10)
  private var length = 0

  def clear(): Unit = length = 0

  /** Makes room for `count` bytes more and returns the array to write them to, from [[end]] on.
    */
  private[log] def roomFor(count: Long): Array[Byte] = {
    ensure(count)
    bytes
  }

  /** Where the next byte goes. */
  private[log] def end: Int = length
  private[log] def end_=(at: Int): Unit = length = at

  def toArray: Array[Byte] = java.util.Arrays.copyOf(bytes, length)

  def byte(value: Int): Unit = {
    ensure(1)
    bytes(length) = value.toByte
    length += 1
  }

  /** A number in as few bytes as it needs, small negative ones included (zig-zag). */
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

  def raw(source: Array[Byte], from: Int, count: Int): Unit = {
    ensure(count.toLong)
    System.arraycopy(source, from, bytes, length, count)
    length += count
  }

  /** Bytes preceded by their number. */
  def block(source: Array[Byte]): Unit = {
    number(source.length.toLong)
    raw(source, 0, source.length)
  }

  private def ensure(more: Long): Unit = {
    val needed = length.toLong + more
    if (needed > bytes.length) bytes = java.util.Arrays.copyOf(bytes, Bytes.roomFor(needed))
  }
}

/** Reads what a [[ByteWriter]] wrote; anything that does not fit is a [[CorruptStateException]].
  */
final class ByteReader(val bytes: Array[Byte]) {
  private var next = 0

  /** Where the next byte is. */
  def position: Int = next
  private[log] def position_=(at: Int): Unit = next = at

  /** Where the bytes end. */
  private[log] def end: Int = bytes.length

  def remaining: Int = bytes.length - next

  def byte(): Int = {
    need(1)
    next += 1
    bytes(next - 1).toInt
  }

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

  /** A number that counts rows: at least 0 and at most `limit`. */
  def count(limit: Long): Long = {
    val value = number()
    if (value < 0 || value > limit) {
      throw new CorruptStateException(s"a stored count of $value is not within 0 and $limit")
    }
    value
  }

  /** How many bytes follow: at most those that are there. */
  def length(): Int = {
    val value = number()
    if (value < 0 || value > remaining) {
      throw new CorruptStateException(s"$value stored bytes expected, $remaining are there")
    }
    value.toInt
  }

  def block(): Array[Byte] = {
    val size = length()
    next += size
    java.util.Arrays.copyOfRange(bytes, next - size, next)
  }

  /** Ends the reading: nothing may be left. */
  def finish(): Unit =
    if (remaining != 0) throw new CorruptStateException(s"$remaining stored bytes are left over")

  def skip(length: Int): Unit = {
    need(length)
    next += length
  }

  private def need(length: Int): Unit =
    if (length < 0 || remaining < length) {
      throw new CorruptStateException(s"$length stored bytes expected, $remaining are there")
    }
}
