package winops.storage.btree

import winops.storage.bytes.{ByteReader, ByteWriter, Bytes, CorruptStateException, PackedRow}

/** The stored form of a page: the lengths of keys and values, one number if all are equal; each
  * entry, packed by [[PackedRow]] as its difference to the previous entry; and the children of an
  * inner page.
  */
private[storage] object PackedPage {
  private val Version: Byte = 2

  /** The version of a page whose changes may be stored beside it. */
  private val WithChanges: Byte = 3
  private val Several = -1L

  /** Maximum number of bytes that one packed byte stands for: half a byte packs a word of eight.
    */
  private val MostFromByte = 16L

  /** Writes a page.
    *
    * @param mayChange
    *   true if later changes of the page may be stored beside it
    */
  def write(page: Page, mayChange: Boolean, out: ByteWriter): Unit = {
    out.byte((if (mayChange) WithChanges else Version).toInt)
    out.byte(if (page.isLeaf) 1 else 0)
    out.number(page.count.toLong)
    writeEntries(page, out)
    if (!page.isLeaf) (0 until page.count).foreach(i => out.number(page.child(i)))
  }

  /** Writes the entries of a page with their lengths. */
  def writeEntries(page: Page, out: ByteWriter): Unit = {
    writeLengths(page.count, page.keyLength, out)
    if (page.isLeaf) writeLengths(page.count, page.valueLength, out)
    var i = 0
    while (i < page.count) {
      val before = if (i == 0) PageEntries.None else page.place(i - 1)
      page.stored.write(page.place(i), before, out)
      i += 1
    }
  }

  /** Reads a page that [[write]] wrote.
    *
    * @throws CorruptStateException
    *   if the bytes are not such a page
    */
  def read(number: Long, in: ByteReader): Page = {
    val from = in.position
    val version = in.byte()
    val kind = in.byte()
    val mayChange = version == WithChanges
    if (version != Version && !mayChange || kind < 0 || kind > 1) {
      throw new CorruptStateException(s"page $number is of another version")
    }
    val isLeaf = kind == 1
    val count = in.count(Page.MaxEntries.toLong).toInt
    if (!isLeaf && count == 0) throw new CorruptStateException(s"page $number is empty")
    val page = readEntries(number, isLeaf, count, in)
    if (mayChange) page.keepBase(in.position - from)
    page
  }

  /** Reads the entries of a leaf, or the entries and the children of an inner page. */
  def readEntries(number: Long, isLeaf: Boolean, count: Int, in: ByteReader): Page = {
    val keyLengths = readLengths(count, in)
    val valueLengths = if (isLeaf) readLengths(count, in) else new Array[Int](count)
    val stored = readEntries(keyLengths, valueLengths, in)
    val page = new Page(number, isLeaf, room = count + 1, stored)
    var entry = 0
    var i = 0
    while (i < count) {
      page.append(entry, if (isLeaf) 0L else in.count(Long.MaxValue))
      entry += PageEntries.sizeOf(keyLengths(i), valueLengths(i)).toInt
      i += 1
    }
    page.checkOrder()
    page.isDirty = false
    page
  }

  private def writeLengths(count: Int, lengthOf: Int => Int, out: ByteWriter): Unit =
    if (count > 0) {
      var i = 1
      while (i < count && lengthOf(i) == lengthOf(0)) i += 1
      if (i == count) out.number(lengthOf(0).toLong)
      else {
        out.number(Several)
        (0 until count).foreach(i => out.number(lengthOf(i).toLong))
      }
    }

  private def readLengths(count: Int, in: ByteReader): Array[Int] = {
    val lengths = new Array[Int](count)
    if (count > 0) {
      val ofAll = in.number()
      var i = 0
      while (i < count) {
        lengths(i) = checkedLength(if (ofAll == Several) in.number() else ofAll, in)
        i += 1
      }
    }
    lengths
  }

  /** Reads the length of a key or a value. */
  def readLength(in: ByteReader): Int = checkedLength(in.number(), in)

  private def checkedLength(length: Long, in: ByteReader): Int = {
    if (length < 0 || length > in.remaining * MostFromByte || length > Bytes.MaxArray) cutOff()
    length.toInt
  }

  private def readEntries(
      keyLengths: Array[Int],
      valueLengths: Array[Int],
      in: ByteReader): PageEntries = {
    val stored = new PageEntries(roomFor(keyLengths, valueLengths, in))
    var before = PageEntries.None
    var i = 0
    while (i < keyLengths.length) {
      before = stored.read(keyLengths(i), valueLengths(i), before, in)
      i += 1
    }
    stored
  }

  private def roomFor(keyLengths: Array[Int], valueLengths: Array[Int], in: ByteReader): Int = {
    var needed = PackedRow.WordBytes.toLong
    var unpacked = 0L
    var i = 0
    while (i < keyLengths.length) {
      needed += PageEntries.sizeOf(keyLengths(i), valueLengths(i))
      unpacked += keyLengths(i).toLong + valueLengths(i)
      i += 1
    }
    if (unpacked > in.remaining * MostFromByte || needed > Bytes.MaxArray) cutOff()
    needed.toInt
  }

  private def cutOff(): Nothing = throw new CorruptStateException("a stored page is cut off")
}
