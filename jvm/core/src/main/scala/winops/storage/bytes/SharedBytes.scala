package winops.storage.bytes

import java.util.Arrays

/** The bytes that several keys begin with, and how those keys compare that differ behind them.
  *
  * @param keys
  *   where one of the keys is
  * @param keyAt
  *   where the key begins
  * @param count
  *   how many bytes the keys share
  */
private[storage] final class SharedBytes(keys: Array[Byte], keyAt: Int, count: Int) {
  import SharedBytes._

  private val bytes = Arrays.copyOfRange(keys, keyAt, keyAt + count)
  private val word = Bytes.getWord(bytes, 0, count)
  private val mask = if (count == 0) 0L else -1L << Math.max(0, WordBytes - count) * 8

  /** How the first bytes of a key compare with these. */
  def compare(key: Array[Byte]): Int =
    if (beginsWithThem(key, 0, key.length)) 0
    else {
      Arrays.compareUnsigned(key, 0, Math.min(key.length, count), bytes, 0, count)
    }

  def beginsWithThem(keys: Array[Byte], keyAt: Int, keyLength: Int): Boolean =
    keyLength >= count && ((Bytes.getWord(keys, keyAt, keyLength) ^ word) & mask) == 0 &&
      (count <= WordBytes ||
        Arrays.equals(keys, keyAt + WordBytes, keyAt + count, bytes, WordBytes, count))

  /** The bytes of a key behind these, as a number that compares as they do; only the first eight
    * are in it.
    */
  def prefix(keys: Array[Byte], keyAt: Int, keyLength: Int): Long =
    Bytes.getWord(keys, keyAt + count, keyLength - count) ^ Long.MinValue

  /** How a key compares with another one, when both begin with these bytes and have the same
    * prefix.
    */
  def compareRest(keys: Array[Byte], keyAt: Int, keyLength: Int, other: Array[Byte]): Int =
    if (keyLength == other.length && keyLength - count <= WordBytes) 0
    else {
      Arrays.compareUnsigned(keys, keyAt + count, keyAt + keyLength, other, count, other.length)
    }
}

private[storage] object SharedBytes {
  private val WordBytes = java.lang.Long.BYTES
}
