package winops.storage.btree

import java.util.Arrays

import winops.storage.bytes.Bytes

/** Keys with their values, one behind the other in an array.
  *
  * An entry stays where it stands as long as there is room. When there is none the array gives
  * way to another one that has what is left of it: who reads an entry in the former may go on.
  *
  * An entry is the length of its key, that of its value, the key, and the value.
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

  /** Adds an entry whose bytes are still to be written, and returns where it stands. There has to
    * be room for it.
    */
  def add(keyLength: Int, valueLength: Int): Int = {
    val entry = end
    Bytes.putInt(array, entry, keyLength)
    Bytes.putInt(array, entry + Integer.BYTES, valueLength)
    end += sizeOf(keyLength, valueLength).toInt
    entry
  }

  /** Adds an entry of others. */
  def add(other: PageEntries, entry: Int): Int = {
    val (keyLength, valueLength) = (other.keyLength(entry), other.valueLength(entry))
    val copy = add(keyLength, valueLength)
    System.arraycopy(other.array, other.keyAt(entry), array, keyAt(copy), keyLength + valueLength)
    copy
  }

  /** An entry is no longer needed; it stands there until its room is. */
  def forget(entry: Int): Unit = {
    val size = sizeOf(keyLength(entry), valueLength(entry)).toInt
    if (entry + size == end) end = entry else forgotten += size
  }

  /** Makes room for one more. Entries that were not forgotten, the first `count` of `places`, may
    * move, and their places are written there.
    */
  def makeRoom(keyLength: Int, valueLength: Int, places: Array[Int], count: Int): Unit = {
    val room = roomFor(end.toLong - forgotten + sizeOf(keyLength, valueLength))
    if (forgotten == 0) array = Arrays.copyOf(array, room) else moveTo(room, places, count)
  }

  /** Gives room back that giant entries have left; otherwise as [[makeRoom]]. */
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

  /** How many bytes an entry takes. */
  def sizeOf(keyLength: Int, valueLength: Int): Long =
    HeaderBytes.toLong + keyLength + valueLength

  private def isGiant(bytes: Long): Boolean = bytes > 2 * Page.MaxBytes

  /** Giant rows have a page each, and need no room beside them. */
  private def roomFor(needed: Long): Int =
    if (isGiant(needed)) Bytes.lengthFor(needed)
    else Math.max(2 * needed, FirstBytes).toInt
}
