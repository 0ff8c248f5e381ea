package winops.log

import java.util.Arrays

/** A node of a [[PagedMap]]: entries in the order of their keys.
  *
  * A leaf has values. An inner page has the numbers of other pages, each with a key that is not
  * greater than any under it; the first of these keys stands for the least of all.
  *
  * @param number
  *   what the page is stored under; [[Page.Inline]] for one that is stored with its group
  * @param room
  *   for how many entries it has room at first
  */
private[log] final class Page(val number: Long, val isLeaf: Boolean, room: Int = 8) {
  private var keyOf = new Array[Array[Byte]](room)
  // Of each key the first bytes after those that all share: searching in them leaves most of the
  // keys, which lie all over the heap, unread.
  private var prefixOf = new Array[Long](room)
  private var sharedBytes = Page.NotFound
  private var valueOf = new Array[Array[Byte]](if (isLeaf) room else 0)
  private var childOf = new Array[Long](if (isLeaf) 0 else room)
  private var entries = 0
  private var length = 0L

  /** Whether the page is not as it was stored. */
  var isDirty: Boolean = true

  def count: Int = entries

  /** How many bytes the entries take. */
  def bytes: Long = length

  def key(index: Int): Array[Byte] = keyOf(index)
  def value(index: Int): Array[Byte] = valueOf(index)
  def child(index: Int): Long = childOf(index)

  def isTooLarge: Boolean = (entries > Page.MaxEntries || length > Page.MaxBytes) && entries > 1

  /** Whether the page could be one with a neighbour without being full at once. */
  def fitsWith(other: Page): Boolean =
    entries + other.entries <= Page.MaxEntries * 3 / 4 &&
      length + other.length <= Page.MaxBytes * 3 / 4

  def isSparse: Boolean = entries <= Page.MaxEntries / 4 && length <= Page.MaxBytes / 4

  /** The index of the entry with the key; if there is none, -1 less the index of the first entry
    * whose key is greater.
    */
  def search(key: Array[Byte]): Int = search(key, 0)

  /** The index of the child that the key is under. */
  def childIndexOf(key: Array[Byte]): Int = {
    val found = search(key, 1)
    if (found >= 0) found else -2 - found
  }

  def insert(index: Int, key: Array[Byte], value: Array[Byte]): Unit = {
    makeRoom(index, key)
    valueOf(index) = value
    length += value.length
  }

  def insert(index: Int, key: Array[Byte], child: Long): Unit = {
    makeRoom(index, key)
    childOf(index) = child
  }

  def replace(index: Int, value: Array[Byte]): Unit = {
    length += value.length - valueOf(index).length
    valueOf(index) = value
    isDirty = true
  }

  def remove(index: Int): Unit = {
    length -= sizeOf(index)
    val behind = entries - index - 1
    System.arraycopy(keyOf, index + 1, keyOf, index, behind)
    System.arraycopy(prefixOf, index + 1, prefixOf, index, behind)
    if (isLeaf) System.arraycopy(valueOf, index + 1, valueOf, index, behind)
    else System.arraycopy(childOf, index + 1, childOf, index, behind)
    entries -= 1
    keyOf(entries) = null
    if (isLeaf) valueOf(entries) = null
    isDirty = true
  }

  /** Moves the entries from `index` on behind those of `to`. */
  def move(index: Int, to: Page): Unit = {
    var i = index
    while (i < entries) {
      if (isLeaf) to.insert(to.count, keyOf(i), valueOf(i))
      else to.insert(to.count, keyOf(i), childOf(i))
      i += 1
    }
    while (entries > index) remove(entries - 1)
  }

  /** Where to cut a page that is too large: behind its last entry but one if entries come in
    * order, else in the middle of its bytes.
    */
  def cut(inserted: Int): Int =
    if (inserted == entries - 1) inserted
    else {
      var index = 1
      var before = sizeOf(0)
      while (index < entries - 1 && before + sizeOf(index) <= length / 2) {
        before += sizeOf(index)
        index += 1
      }
      index
    }

  def write(out: ByteWriter): Unit = {
    out.byte(Page.Version)
    out.byte(if (isLeaf) 1 else 0)
    out.number(entries.toLong)
    var i = 0
    while (i < entries) {
      out.block(keyOf(i))
      if (isLeaf) out.block(valueOf(i)) else out.number(childOf(i))
      i += 1
    }
  }

  private def sizeOf(index: Int): Long = {
    val value = if (isLeaf) valueOf(index).length else java.lang.Long.BYTES
    keyOf(index).length.toLong + value + Page.EntryBytes
  }

  private def makeRoom(index: Int, key: Array[Byte]): Unit = {
    if (entries == keyOf.length) {
      keyOf = Arrays.copyOf(keyOf, entries * 2)
      prefixOf = Arrays.copyOf(prefixOf, entries * 2)
      if (isLeaf) valueOf = Arrays.copyOf(valueOf, entries * 2)
      else childOf = Arrays.copyOf(childOf, entries * 2)
    }
    System.arraycopy(keyOf, index, keyOf, index + 1, entries - index)
    System.arraycopy(prefixOf, index, prefixOf, index + 1, entries - index)
    if (isLeaf) System.arraycopy(valueOf, index, valueOf, index + 1, entries - index)
    else System.arraycopy(childOf, index, childOf, index + 1, entries - index)
    keyOf(index) = key
    entries += 1
    length += key.length + Page.EntryBytes + (if (isLeaf) 0 else java.lang.Long.BYTES)
    isDirty = true
    if (sharedBytes != Page.NotFound && index >= firstCompared) {
      if (sharesBytes(index)) prefixOf(index) = prefixFrom(key) else sharedBytes = Page.NotFound
    }
  }

  /** As [[search]], among the entries from one on, which all have comparable keys. */
  private def search(key: Array[Byte], from: Int): Int = {
    if (sharedBytes == Page.NotFound) findPrefixes()
    val side = if (entries > from) compareShared(key, keyOf(from)) else 0
    var low = if (side > 0) entries else from
    var high = if (side < 0) from else entries
    val prefix = prefixFrom(key)
    var found = -1
    while (low < high) {
      val middle = (low + high) >>> 1
      val other = prefixOf(middle)
      val order =
        if (other == prefix) compareRest(keyOf(middle), key) else if (other < prefix) -1 else 1
      if (order == 0) {
        found = middle
        high = low
      } else if (order < 0) low = middle + 1
      else high = middle
    }
    if (found >= 0) found else -1 - low
  }

  /** The first key of an inner page stands for the least of all. */
  private def firstCompared: Int = if (isLeaf) 0 else 1

  /** Whether the key at an index begins as those beside it do. */
  private def sharesBytes(index: Int): Boolean = {
    val other = if (index > firstCompared) index - 1 else index + 1
    other < entries && compareShared(keyOf(index), keyOf(other)) == 0
  }

  private def compareShared(key: Array[Byte], other: Array[Byte]): Int =
    Arrays.compareUnsigned(key, 0, Math.min(key.length, sharedBytes), other, 0, sharedBytes)

  private def compareRest(one: Array[Byte], other: Array[Byte]): Int =
    Arrays.compareUnsigned(one, sharedBytes, one.length, other, sharedBytes, other.length)

  private def findPrefixes(): Unit = {
    val (first, last) = (firstCompared, entries - 1)
    if (first <= last) {
      // The keys between two share what these share.
      val differ = Arrays.mismatch(keyOf(first), keyOf(last))
      sharedBytes = if (differ < 0) keyOf(first).length else differ
      var i = first
      while (i <= last) {
        if (keyOf(i).length < sharedBytes) throw Page.notInOrder(number)
        prefixOf(i) = prefixFrom(keyOf(i))
        i += 1
      }
    } else sharedBytes = 0
  }

  /** The bytes of a key after those that all share, as a number that compares as they do: zeros
    * stand for those that are not there.
    */
  private def prefixFrom(key: Array[Byte]): Long = {
    val there = key.length - sharedBytes
    val bits =
      if (there >= java.lang.Long.BYTES) {
        java.lang.Long.reverseBytes(Bytes.getLong(key, sharedBytes))
      } else {
        var first = 0L
        var i = 0
        while (i < java.lang.Long.BYTES) {
          first = (first << 8) | (if (i < there) key(sharedBytes + i) & 0xff else 0)
          i += 1
        }
        first
      }
    bits ^ Long.MinValue
  }
}

private[log] object Page {
  val Inline = 0L

  /** Pages are this large so that reading one costs little more than finding it. */
  val MaxBytes = 4096L
  val MaxEntries = 128

  private val EntryBytes = 2L
  private val NotFound = -1
  private val Version: Byte = 1

  def read(number: Long, in: ByteReader): Page = {
    val version = in.byte()
    val kind = in.byte()
    if (version != Version || kind < 0 || kind > 1) {
      throw new CorruptStateException(s"page $number is of another version")
    }
    val count = in.count(in.remaining.toLong).toInt
    val page = new Page(number, kind == 1, room = Math.min(count + 1, MaxEntries + 1))
    var i = 0
    while (i < count) {
      val key = in.block()
      if (i > 0 && Arrays.compareUnsigned(page.key(i - 1), key) >= 0) {
        throw notInOrder(number)
      }
      if (page.isLeaf) page.insert(i, key, in.block())
      else page.insert(i, key, in.count(Long.MaxValue))
      i += 1
    }
    if (!page.isLeaf && count == 0) throw new CorruptStateException(s"page $number is empty")
    page.isDirty = false
    page
  }

  private def notInOrder(number: Long): CorruptStateException =
    new CorruptStateException(s"page $number is not in order")
}
