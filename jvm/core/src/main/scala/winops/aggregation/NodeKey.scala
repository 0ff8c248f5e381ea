package winops.aggregation

import winops.storage.bytes.{Bytes, CorruptStateException}

/** Keys of nodes, which sort by prefix, level and number. */
private[aggregation] object NodeKey {
  val NoPrefix: Array[Byte] = Array.emptyByteArray

  def of(prefix: Array[Byte], level: Int, number: Long): Array[Byte] = {
    val key = java.util.Arrays.copyOf(prefix, prefix.length + 1 + java.lang.Long.BYTES)
    key(prefix.length) = level.toByte
    Bytes.putLong(key, prefix.length + 1, java.lang.Long.reverseBytes(number))
    key
  }

  def number(key: Array[Byte]): Long = {
    val at = key.length - java.lang.Long.BYTES
    if (at <= 0) throw new CorruptStateException(s"a node has a key of ${key.length} bytes")
    java.lang.Long.reverseBytes(Bytes.getLong(key, at))
  }
}
