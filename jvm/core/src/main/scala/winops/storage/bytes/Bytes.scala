package winops.storage.bytes

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
