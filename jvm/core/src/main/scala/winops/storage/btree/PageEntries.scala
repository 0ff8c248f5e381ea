package winops.storage.btree

import java.util.Arrays

import winops.storage.bytes.Bytes

/** Stores keys with their values, one behind the other in an array.
  *
  * An entry stays in its place while the array has room. A full array is replaced by another one
  * with the remaining entries; readers of an entry in the old array may go on reading.
  *
  * An entry is the length of its key, the length of its value, the key, and the value.
  */
private[storage] final class PageEntries(room: Int) {
  import PageEntries._

  private var array = new Array[Byte](room)
  private var end = 0
  private var forgotten = 0

  def bytes: Array[Byte] = array

  def keyAt(entry: Int): Int = entry + HeaderBytes
  def keyLength(entry: Int): Int = Bytes.getInt(array, entry)
  def valueAt(entry: Int): Int = keyAt(entry) + keyLength(entry)
  def valueLength(entry: Int): Int = Bytes.getInt(array, entry + Integer.BYTES)

  def key(entry: Int): Array[Byte] = copyOf(keyAt(entry), keyLength(entry))
  def value(entry: Int): Array[Byte] = copyOf(valueAt(entry), valueLength(entry))

  def hasRoomFor(keyLength: Int, valueLength: Int): Boolean =
    sizeOf(keyLength, valueLength) <= array.length - end

  /** Adds an entry without its bytes, which the caller writes, and returns its place. The array
    * must have room.
    */
  def add(keyLength: Int, valueLength: Int): Int = {
    val entry = end
    Bytes.putInt(array, entry, keyLength)
    Bytes.putInt(array, entry + Integer.BYTES, valueLength)
    end += sizeOf(keyLength, valueLength).toInt
    entry
  }

  /** Copies an entry of `other`. */
  def add(other: PageEntries, entry: Int): Int = {
    val (keyLength, valueLength) = (other.keyLength(entry), other.valueLength(entry))
    val copy = add(keyLength, valueLength)
    System.arraycopy(other.array, other.keyAt(entry), array, keyAt(copy), keyLength + valueLength)
    copy
  }

  /** Gives up an entry; its bytes stay until the space is reused. */
  def forget(entry: Int): Unit = {
    val size = sizeOf(keyLength(entry), valueLength(entry)).toInt
    if (entry + size == end) end = entry else forgotten += size
  }

  /** Makes room for one more entry. Entries that were not forgotten, the first `count` of
    * `places`, may move; their new places are written to `places`.
    */
  def makeRoom(keyLength: Int, valueLength: Int, places: Array[Int], count: Int): Unit = {
    val room = roomFor(end.toLong - forgotten + sizeOf(keyLength, valueLength))
    if (forgotten == 0) array = Arrays.copyOf(array, room) else moveTo(room, places, count)
  }

  /** Shrinks an array that giant entries have grown. Entries may move as in [[makeRoom]]. */
  def trim(places: Array[Int], count: Int): Unit = {
    val needed = end.toLong - forgotten
    if (isGiant(array.length) && needed < array.length / 2) {
      moveTo(roomFor(needed), places, count)
    }
  }

  private def moveTo(room: Int, places: Array[Int], count: Int): Unit = {
    val others = new PageEntries(room)
    var i = 0
    while (i < count) {
      places(i) = others.add(this, places(i))
      i += 1
    }
    array = others.array
    end = others.end
    forgotten = 0
  }

  private def copyOf(at: Int, length: Int): Array[Byte] =
    Arrays.copyOfRange(array, at, at + length)
}

private[storage] object PageEntries {
  private val HeaderBytes = 2 * Integer.BYTES
  private val FirstBytes = 256L

  /** Number of bytes of an entry. */
  def sizeOf(keyLength: Int, valueLength: Int): Long =
    HeaderBytes.toLong + keyLength + valueLength

  private def isGiant(bytes: Long): Boolean = bytes > 2 * Page.MaxBytes

  /** Each giant row has its own page, which needs no further room. */
  private def roomFor(needed: Long): Int =
    if (isGiant(needed)) Bytes.lengthFor(needed)
    else Math.max(2 * needed, FirstBytes).toInt
}
