package winops.storage.btree

import java.util.Arrays

import winops.storage.bytes.{ByteReader, ByteWriter, Bytes, PackedRow}

/** Stores keys with their values, one behind the other in an array.
  *
  * An entry stays in its place while the array has room. A full array is replaced by another one
  * with the remaining entries; readers of an entry in the old array may go on reading.
  *
  * The first entries may be a base, from which changes are written. Entries of a base stay in the
  * array even if they are forgotten, until the array is full of forgotten entries.
  *
  * An entry is the length of its key, the length of its value, the key, and the value.
  */
private[storage] final class PageEntries(room: Int) {
  import PageEntries._

  private var array = new Array[Byte](room)
  private var end = 0
  private var forgotten = 0
  private var baseEnd = 0

  /** Makes the present entries a base. */
  def keepBase(): Unit = baseEnd = end

  def forgetBase(): Unit = baseEnd = 0

  def hasBase: Boolean = baseEnd > 0

  /** Returns true if the entry is of the base, in which it stays as it is. */
  def isOfBase(entry: Int): Boolean = entry < baseEnd

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

  /** Writes an entry as its difference to another one, or to nothing. */
  def write(entry: Int, other: Int, out: ByteWriter): Unit = {
    val length = lengthOf(entry)
    val (at, otherAt, otherLength) = (keyAt(entry), keyAt(other), lengthOf(other))
    val target = out.roomFor(PackedRow.roomFor(length))
    out.end = PackedRow.write(array, at, length, array, otherAt, otherLength, target, out.end)
  }

  /** Adds an entry that [[write]] wrote and returns its place. No entry may be forgotten. */
  def read(keyLength: Int, valueLength: Int, other: Int, in: ByteReader): Int = {
    // Unpacking writes whole words.
    val needed = valueLength + PackedRow.WordBytes
    if (!hasRoomFor(keyLength, needed)) {
      array = Arrays.copyOf(array, roomFor(end + sizeOf(keyLength, needed)))
    }
    val entry = add(keyLength, valueLength)
    in.position = PackedRow.read(
      in.bytes,
      in.position,
      in.end,
      array,
      keyAt(entry),
      keyLength + valueLength,
      array,
      keyAt(other),
      lengthOf(other))
    entry
  }

  private def lengthOf(entry: Int): Int =
    if (entry == None) 0 else keyLength(entry) + valueLength(entry)

  /** Gives up an entry; its bytes stay until the space is reused. */
  def forget(entry: Int): Unit = {
    val size = sizeOf(keyLength(entry), valueLength(entry)).toInt
    if (entry + size == end && !isOfBase(entry)) end = entry else forgotten += size
  }

  /** Makes room for one more entry. Entries that were not forgotten, the first `count` of
    * `places`, may move; their new places are written to `places`.
    */
  def makeRoom(keyLength: Int, valueLength: Int, places: Array[Int], count: Int): Unit = {
    val more = sizeOf(keyLength, valueLength)
    val keepsPlaces = forgotten == 0 || hasBase && forgotten <= end / 2
    if (keepsPlaces) array = Arrays.copyOf(array, roomFor(end + more))
    else moveTo(roomFor(end.toLong - forgotten + more), places, count)
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
    baseEnd = 0
  }

  private def copyOf(at: Int, length: Int): Array[Byte] =
    Arrays.copyOfRange(array, at, at + length)
}

private[storage] object PageEntries {

  /** The place of no entry. */
  val None: Int = -1

  private val HeaderBytes = 2 * Integer.BYTES
  private val FirstBytes = 256L

  /** Number of bytes of an entry. */
  def sizeOf(keyLength: Int, valueLength: Int): Long =
    HeaderBytes.toLong + keyLength + valueLength

  /** Returns true for more bytes than a page has that can be split. */
  def isGiant(bytes: Long): Boolean = bytes > 2 * Page.MaxBytes

  /** Each giant row has its own page, which needs no further room. */
  private def roomFor(needed: Long): Int =
    if (isGiant(needed)) Bytes.lengthFor(needed)
    else Math.max(2 * needed, FirstBytes).toInt
}
