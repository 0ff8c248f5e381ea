package winops.storage.bytes

import java.util.Arrays

/** The leading bytes that several keys share. Compares keys that start with these bytes.
  *
  * @param keys
  *   the array that holds one of the keys
  * @param keyAt
  *   the position of the key
  * @param count
  *   number of shared bytes
  */
private[storage] final class SharedBytes(keys: Array[Byte], keyAt: Int, count: Int) {
  import SharedBytes._

  private val bytes = Arrays.copyOfRange(keys, keyAt, keyAt + count)
  private val word = Bytes.getWord(bytes, 0, count)
  private val mask = if (count == 0) 0L else -1L << Math.max(0, WordBytes - count) * 8

  /** Compares the first bytes of a key with the shared bytes. */
  def compare(key: Array[Byte]): Int =
    if (beginsWithThem(key, 0, key.length)) 0
    else {
      Arrays.compareUnsigned(key, 0, Math.min(key.length, count), bytes, 0, count)
    }

  def beginsWithThem(keys: Array[Byte], keyAt: Int, keyLength: Int): Boolean =
    keyLength >= count && ((Bytes.getWord(keys, keyAt, keyLength) ^ word) & mask) == 0 &&
      (count <= WordBytes ||
        Arrays.equals(keys, keyAt + WordBytes, keyAt + count, bytes, WordBytes, count))

  /** The eight bytes of a key behind the shared bytes, as a number that compares as the bytes do.
    */
  def prefix(keys: Array[Byte], keyAt: Int, keyLength: Int): Long =
    Bytes.getWord(keys, keyAt + count, keyLength - count) ^ Long.MinValue

  /** Compares two keys that both start with the shared bytes and have the same prefix. */
  def compareRest(keys: Array[Byte], keyAt: Int, keyLength: Int, other: Array[Byte]): Int =
    if (keyLength == other.length && keyLength - count <= WordBytes) 0
    else {
      Arrays.compareUnsigned(keys, keyAt + count, keyAt + keyLength, other, count, other.length)
    }
}

private[storage] object SharedBytes {
  private val WordBytes = java.lang.Long.BYTES
}
