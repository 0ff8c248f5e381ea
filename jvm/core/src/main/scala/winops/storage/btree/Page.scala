package winops.storage.btree

import java.util.Arrays

import winops.storage.bytes.{CorruptStateException, SharedBytes}

/** A node of a [[PagedMap]]: entries in key order.
  *
  * A leaf has values. An inner page has the numbers of its children, each with a key that is not
  * greater than any key under that child. The first of these keys counts as less than all keys.
  *
  * @param number
  *   the number that the page is stored under; [[Page.Inline]] if it is stored with its group
  * @param room
  *   initial capacity in entries
  * @param stored
  *   the entries, in any order
  */
private[storage] final class Page(
    val number: Long,
    val isLeaf: Boolean,
    room: Int = 8,
    private[btree] val stored: PageEntries = new PageEntries(0)) {
  private var entryOf = new Array[Int](room)
  // A search compares these prefixes first and reads few of the keys.
  private var prefixOf = new Array[Long](room)
  private var shared: SharedBytes = _
  private var childOf = new Array[Long](if (isLeaf) 0 else room)
  private var pageOf = new Array[Page](if (isLeaf) 0 else room)
  private var entries = 0
  private var length = 0L

  /** True if the page differs from its stored form. */
  var isDirty: Boolean = true

  /** The page as it is stored, if its changes may be stored beside it; otherwise null. */
  var base: PageBase = _

  def count: Int = entries

  def key(index: Int): Array[Byte] = stored.key(entryOf(index))
  def value(index: Int): Array[Byte] = stored.value(entryOf(index))
  def child(index: Int): Long = childOf(index)

  /** The place of an entry in the array that holds the entries. */
  def place(index: Int): Int = entryOf(index)

  /** Returns true if the entry has been there since the base was stored. */
  def isOfBase(index: Int): Boolean = stored.isOfBase(entryOf(index))

  /** Returns true if the entries of the base are known, so that changes of it can be written. */
  def knowsBase: Boolean = base != null && stored.hasBase

  /** Makes the present entries the base, whose stored form has this number of bytes. */
  def keepBase(bytes: Int): Unit = {
    stored.keepBase()
    base = new PageBase(
      Arrays.copyOf(entryOf, entries),
      Arrays.copyOf(childOf, if (isLeaf) 0 else entries),
      bytes)
  }

  def forgetBase(): Unit = {
    stored.forgetBase()
    base = null
  }

  /** The page without entries, but with the same base. */
  def emptied: Page = {
    val page = new Page(number, isLeaf, entryOf.length, stored)
    page.base = base
    page
  }

  /** The array that holds the entries, in any order. */
  def bytes: Array[Byte] = stored.bytes
  def keyAt(index: Int): Int = stored.keyAt(entryOf(index))
  def keyLength(index: Int): Int = stored.keyLength(entryOf(index))
  def valueAt(index: Int): Int = stored.valueAt(entryOf(index))
  def valueLength(index: Int): Int = stored.valueLength(entryOf(index))

  /** The child page at an index, loaded if necessary. */
  def below(index: Int, pages: Pages): Page = {
    if (pageOf(index) == null) pageOf(index) = pages.page(childOf(index))
    pageOf(index)
  }

  /** Forgets the loaded child page at an index. */
  def forgetBelow(index: Int): Unit = pageOf(index) = null

  /** About the number of bytes that the page takes on the heap. */
  def heapBytes: Long =
    Page.ObjectBytes + stored.bytes.length + entryOf.length.toLong * Page.HeapBytesOfEntry

  def isBefore(index: Int, key: Array[Byte]): Boolean = {
    val at = keyAt(index)
    Arrays.compareUnsigned(bytes, at, at + keyLength(index), key, 0, key.length) < 0
  }

  /** Returns true if the page must be split. An inner page with long keys has several children
    * nevertheless, so that the tree is not deep.
    */
  def isTooLarge(most: PageSize): Boolean = entries > most.entries ||
    length > most.bytes && entries > (if (isLeaf) 1 else Page.FewChildren)

  /** Returns true if the page has a giant entry, which is not kept twice. */
  def isGiant: Boolean = PageEntries.isGiant(length)

  /** Returns true if the page can be merged with another one and stay well below its maximum
    * size.
    */
  def fitsWith(other: Page, most: PageSize): Boolean =
    entries + other.entries <= most.entries * 3 / 4 &&
      length + other.length <= most.bytes * 3 / 4

  def isSparse(most: PageSize): Boolean =
    entries <= most.entries / 4 && length <= most.bytes / 4

  /** The index of the entry with the key; if there is none, -1 - i, where i is the index of the
    * first entry with a greater key.
    */
  def search(key: Array[Byte]): Int = search(key, 0)

  /** The index of the child that holds the key. */
  def childIndexOf(key: Array[Byte]): Int = {
    val found = search(key, 1)
    if (found >= 0) found else -2 - found
  }

  /** Inserts an entry without its value, which the caller writes. */
  def insert(index: Int, key: Array[Byte], valueLength: Int): Unit = {
    makeRoomFor(key.length, valueLength)
    val entry = stored.add(key.length, valueLength)
    System.arraycopy(key, 0, stored.bytes, stored.keyAt(entry), key.length)
    insert(index, entry)
  }

  def insert(index: Int, key: Array[Byte], value: Array[Byte]): Unit = {
    insert(index, key, value.length)
    System.arraycopy(value, 0, stored.bytes, valueAt(index), value.length)
  }

  def insert(index: Int, key: Array[Byte], child: Long): Unit = {
    insert(index, key, valueLength = 0)
    childOf(index) = child
  }

  /** Appends an entry that is stored already and not yet in the page. */
  def append(entry: Int, child: Long): Unit = {
    insert(entries, entry)
    if (!isLeaf) childOf(entries - 1) = child
  }

  def replace(index: Int, value: Array[Byte]): Unit = {
    val entry = entryOf(index)
    if (stored.valueLength(entry) == value.length && !stored.isOfBase(entry)) {
      System.arraycopy(value, 0, stored.bytes, stored.valueAt(entry), value.length)
    } else {
      val key = stored.key(entry)
      length -= sizeOf(index)
      makeRoomFor(key.length, value.length)
      stored.forget(entryOf(index))
      entryOf(index) = stored.add(key.length, value.length)
      System.arraycopy(key, 0, stored.bytes, keyAt(index), key.length)
      System.arraycopy(value, 0, stored.bytes, valueAt(index), value.length)
      length += sizeOf(index)
    }
    isDirty = true
  }

  def remove(index: Int): Unit = {
    length -= sizeOf(index)
    stored.forget(entryOf(index))
    val behind = entries - index - 1
    System.arraycopy(entryOf, index + 1, entryOf, index, behind)
    System.arraycopy(prefixOf, index + 1, prefixOf, index, behind)
    if (!isLeaf) {
      System.arraycopy(childOf, index + 1, childOf, index, behind)
      System.arraycopy(pageOf, index + 1, pageOf, index, behind)
      pageOf(entries - 1) = null
    }
    entries -= 1
    isDirty = true
  }

  /** Moves the entries from `index` on to the end of `to`. */
  def move(index: Int, to: Page): Unit = {
    var i = index
    while (i < entries) {
      to.makeRoomFor(keyLength(i), valueLength(i))
      to.append(to.stored.add(stored, entryOf(i)), if (isLeaf) 0L else childOf(i))
      i += 1
    }
    while (entries > index) remove(entries - 1)
    stored.trim(entryOf, entries)
  }

  /** The index at which to split a page that is too large. A page that grows at its end is split
    * before the inserted entry, which fills pages with keys that arrive in order. Other pages are
    * split in the middle of their bytes.
    *
    * @param inserted
    *   the index of the entry inserted last
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

  /** Finds the bytes that all keys share, and checks the order of the keys.
    *
    * @throws CorruptStateException
    *   if the keys are not in order
    */
  def checkOrder(): Unit = {
    findPrefixes()
    var i = firstCompared
    while (i < entries) {
      val follows = i == firstCompared || prefixOf(i - 1) < prefixOf(i) ||
        prefixOf(i - 1) == prefixOf(i) && compare(i - 1, i) < 0
      if (!follows || !shares(i)) throw notInOrder
      i += 1
    }
  }

  private def sizeOf(index: Int): Long = {
    val value = if (isLeaf) valueLength(index) else java.lang.Long.BYTES
    keyLength(index).toLong + value + Page.EntryBytes
  }

  private def makeRoomFor(keyLength: Int, valueLength: Int): Unit =
    if (!stored.hasRoomFor(keyLength, valueLength)) {
      stored.makeRoom(keyLength, valueLength, entryOf, entries)
    }

  private def insert(index: Int, entry: Int): Unit = {
    if (entries == entryOf.length) {
      entryOf = Arrays.copyOf(entryOf, entries * 2)
      prefixOf = Arrays.copyOf(prefixOf, entries * 2)
      if (!isLeaf) {
        childOf = Arrays.copyOf(childOf, entries * 2)
        pageOf = Arrays.copyOf(pageOf, entries * 2)
      }
    }
    if (index < entries) moveUp(index)
    if (!isLeaf) pageOf(index) = null
    entryOf(index) = entry
    entries += 1
    length += sizeOf(index)
    isDirty = true
    if (shared != null && index >= firstCompared) {
      if (shares(index)) prefixOf(index) = prefixAt(index) else shared = null
    }
  }

  private def moveUp(index: Int): Unit = {
    System.arraycopy(entryOf, index, entryOf, index + 1, entries - index)
    System.arraycopy(prefixOf, index, prefixOf, index + 1, entries - index)
    if (!isLeaf) {
      System.arraycopy(childOf, index, childOf, index + 1, entries - index)
      System.arraycopy(pageOf, index, pageOf, index + 1, entries - index)
    }
  }

  /** Searches the entries from index `from` on, all of which have comparable keys. */
  private def search(key: Array[Byte], from: Int): Int =
    if (entries <= from) -1 - entries
    else {
      if (shared == null) findPrefixes()
      val side = shared.compare(key)
      if (side > 0) -1 - entries
      else if (side < 0) -1 - from
      else searchBehindShared(key, from)
    }

  private def searchBehindShared(key: Array[Byte], from: Int): Int = {
    val prefix = shared.prefix(key, 0, key.length)
    var low = atLeast(prefix, from)
    var high =
      if (!isAt(low, prefix)) low
      else if (!isAt(low + 1, prefix)) low + 1
      else if (prefix == Long.MaxValue) entries
      else atLeast(prefix + 1, low)
    var found = -1
    while (low < high) {
      val middle = (low + high) >>> 1
      val order = shared.compareRest(bytes, keyAt(middle), keyLength(middle), key)
      if (order == 0) {
        found = middle
        high = low
      } else if (order < 0) low = middle + 1
      else high = middle
    }
    if (found >= 0) found else -1 - low
  }

  private def isAt(index: Int, prefix: Long): Boolean =
    index < entries && prefixOf(index) == prefix

  /** The first index, from `from` on, whose prefix is not less. The steps do not depend on the
    * comparisons, so the processor need not predict branches.
    */
  private def atLeast(prefix: Long, from: Int): Int = {
    var low = from
    var left = entries - from
    while (left > 0) {
      val half = (left + 1) >>> 1
      if (prefixOf(low + half - 1) < prefix) low += half
      left -= half
    }
    low
  }

  /** The index of the first key that takes part in comparisons: the first key of an inner page
    * counts as less than all keys.
    */
  private def firstCompared: Int = if (isLeaf) 0 else 1

  private def shares(index: Int): Boolean =
    shared.beginsWithThem(bytes, keyAt(index), keyLength(index))

  private def prefixAt(index: Int): Long =
    shared.prefix(bytes, keyAt(index), keyLength(index))

  private def findPrefixes(): Unit = {
    val (first, last) = (firstCompared, entries - 1)
    if (first <= last) {
      // All keys in between share the bytes that the first and the last key share.
      val differ = Arrays.mismatch(
        bytes,
        keyAt(first),
        keyAt(first) + keyLength(first),
        bytes,
        keyAt(last),
        keyAt(last) + keyLength(last))
      val count = if (differ < 0) keyLength(first) else differ
      shared = new SharedBytes(bytes, keyAt(first), count)
      var i = first
      while (i <= last) {
        if (keyLength(i) < count) throw notInOrder
        prefixOf(i) = prefixAt(i)
        i += 1
      }
    }
  }

  private def compare(one: Int, other: Int): Int = Arrays.compareUnsigned(
    bytes,
    keyAt(one),
    keyAt(one) + keyLength(one),
    bytes,
    keyAt(other),
    keyAt(other) + keyLength(other))

  private def notInOrder: CorruptStateException =
    new CorruptStateException(s"page $number is not in order")
}

private[storage] object Page {

  /** The number of a page that is stored with its group. */
  val Inline = 0L

  /** Maximum number of entries of a page. */
  val MaxEntries: Int = PageSize.Large.entries

  /** Maximum number of bytes of a leaf with several entries. */
  val MaxBytes: Long = PageSize.Large.bytes

  private val FewChildren = 8
  private val EntryBytes = 2L

  /** Bytes on the heap of the objects of a page, and of its arrays for each entry. */
  private val ObjectBytes = 256L
  private val HeapBytesOfEntry = 24L
}
