package winops.storage.buckets

import java.util.Arrays

import winops.storage.bytes.{ByteReader, ByteWriter}

/** Values under keys, short enough to be stored together as one. */
final class Bucket {
  private var keys = new Array[Array[Byte]](16)
  private var values = new Array[Array[Byte]](16)
  private var count = 0
  private var length = 0L
  // Keys are looked for in about the order in which they were put.
  private var found = 0

  def size: Int = count
  def isEmpty: Boolean = count == 0

  /** The key that was put first, if there is one. */
  def firstKey: Array[Byte] = keys(0)

  /** About how long it is when it is stored. */
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

  /** Sets the value of a key, which is copied; whether there was none. */
  def put(key: Array[Byte], value: Array[Byte]): Boolean = {
    val isNew = !find(key)
    if (isNew) add(key.clone(), value)
    else {
      length += value.length - values(found).length
      values(found) = value
    }
    isNew
  }

  /** Removes a key that has a value. */
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
      out.block(keys(i))
      out.block(values(i))
      i += 1
    }
  }

  /** Becomes what was saved.
    *
    * @throws CorruptStateException
    *   if that is not a bucket
    */
  def restore(in: ByteReader): Unit = {
    clear()
    var left = in.count(in.remaining.toLong)
    while (left > 0) {
      add(in.block(), in.block())
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
