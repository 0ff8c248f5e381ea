package winops.storage.bytes

import java.lang.invoke.{MethodHandles, VarHandle}
import java.nio.ByteOrder

/** Fixed-width access to byte arrays, little-endian on every machine. */
private[winops] object Bytes {
  private val ints: VarHandle =
    MethodHandles.byteArrayViewVarHandle(classOf[Array[Int]], ByteOrder.LITTLE_ENDIAN)
  private val longs: VarHandle =
    MethodHandles.byteArrayViewVarHandle(classOf[Array[Long]], ByteOrder.LITTLE_ENDIAN)

  /** Maximum length of an array. */
  val MaxArray: Int = Int.MaxValue - 16

  /** The array length for a number of bytes.
    *
    * @throws TooManyBytesException
    *   if there are more than [[MaxArray]]
    */
  def lengthFor(bytes: Long): Int = {
    if (bytes > MaxArray) throw new TooManyBytesException(bytes)
    bytes.toInt
  }

  /** The length of an array with room for as many bytes again, at most [[MaxArray]]. */
  def roomFor(bytes: Long): Int = Math.min(lengthFor(bytes) * 2L, MaxArray.toLong).toInt

  def getInt(bytes: Array[Byte], at: Int): Int = ints.get(bytes, at)
  def putInt(bytes: Array[Byte], at: Int, value: Int): Unit = ints.set(bytes, at, value)
  def getLong(bytes: Array[Byte], at: Int): Long = longs.get(bytes, at)
  def putLong(bytes: Array[Byte], at: Int, value: Long): Unit = longs.set(bytes, at, value)

  /** The first eight of `length` bytes as a big-endian number; zeros stand for missing bytes. */
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
