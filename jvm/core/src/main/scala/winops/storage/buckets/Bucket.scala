package winops.storage.buckets

import java.util.Arrays

import winops.storage.bytes.{ByteReader, ByteWriter}

/** A small map from keys to values that is stored as one value. */
final class Bucket {
  private var keys = new Array[Array[Byte]](16)
  private var values = new Array[Array[Byte]](16)
  private var count = 0
  private var length = 0L
  // Keys are often read in insertion order, so a search begins at the last hit.
  private var found = 0

  def size: Int = count
  def isEmpty: Boolean = count == 0

  /** The key that was inserted first, or null if the bucket is empty. */
  def firstKey: Array[Byte] = keys(0)

  /** Approximate number of bytes of the stored bucket. */
  def bytes: Long = length

  def clear(): Unit = {
    Arrays.fill(keys.asInstanceOf[Array[AnyRef]], 0, count, null)
    Arrays.fill(values.asInstanceOf[Array[AnyRef]], 0, count, null)
    count = 0
    length = 0L
    found = 0
  }

  /** The value of a key, or null. */
  def get(key: Array[Byte]): Array[Byte] = if (find(key)) values(found) else null

  /** Sets the value of a key, and returns true if the key is new. Copies a new key but not the
    * value.
    */
  def put(key: Array[Byte], value: Array[Byte]): Boolean = {
    val isNew = !find(key)
    if (isNew) add(key.clone(), value)
    else {
      length += value.length - values(found).length
      values(found) = value
    }
    isNew
  }

  /** Removes a key.
    *
    * @throws NoSuchElementException
    *   if the bucket does not contain the key
    */
  def remove(key: Array[Byte]): Unit = {
    if (!find(key)) throw new NoSuchElementException("a key that is not in the bucket")
    count -= 1
    length -= sizeOf(keys(found), values(found))
    System.arraycopy(keys, found + 1, keys, found, count - found)
    System.arraycopy(values, found + 1, values, found, count - found)
    keys(count) = null
    values(count) = null
  }

  def foreach(each: (Array[Byte], Array[Byte]) => Unit): Unit =
    (0 until count).foreach(i => each(keys(i), values(i)))

  def save(out: ByteWriter): Unit = {
    out.number(count.toLong)
    var i = 0
    while (i < count) {
      out.packed(keys(i))
      // Lengths around the usual one take one byte.
      out.number(values(i).length - Bucket.UsualLength)
      out.raw(values(i), 0, values(i).length)
      i += 1
    }
  }

  /** Replaces the entries by those of a saved bucket.
    *
    * @throws CorruptStateException
    *   if the bytes are not a bucket
    */
  def restore(in: ByteReader): Unit = {
    clear()
    var left = in.count(in.remaining.toLong)
    while (left > 0) {
      add(in.packed(), in.block(in.number() + Bucket.UsualLength))
      left -= 1
    }
    in.finish()
  }

  private def add(key: Array[Byte], value: Array[Byte]): Unit = {
    if (count == keys.length) {
      keys = Arrays.copyOf(keys, 2 * count)
      values = Arrays.copyOf(values, 2 * count)
    }
    keys(count) = key
    values(count) = value
    count += 1
    length += sizeOf(key, value)
  }

  private def sizeOf(key: Array[Byte], value: Array[Byte]): Int = key.length + value.length + 2

  private def find(key: Array[Byte]): Boolean = {
    var left = count
    if (found >= count) found = 0
    while (left > 0 && !Arrays.equals(keys(found), key)) {
      found = if (found + 1 < count) found + 1 else 0
      left -= 1
    }
    left > 0
  }
}

private object Bucket {

  /** Values with lengths within 64 bytes of this one have a length of one byte. */
  val UsualLength = 64L
}
