package winops.storage.rows

import winops.storage.btree.{PagedMap, Pages}
import winops.storage.bytes.{ByteReader, ByteWriter, Bytes, CorruptStateException}

/** Stores the rows of one group in arrival order as a tree of pages by ordinal. Any row may be
  * removed.
  *
  * @param withArrival
  *   true if arrival times are stored; otherwise [[arrival]] is 0
  * @param rowCheck
  *   checks each row that is read
  */
final class RowTree(pages: Pages, withArrival: Boolean, rowCheck: RowCheck = RowCheck.Nothing)
    extends RowStore {
  private val header = if (withArrival) java.lang.Long.BYTES else 0
  private val rows = pages.newMap()
  private val probe = new Array[Byte](java.lang.Long.BYTES)

  private var endOrdinal = 0L
  private var firstOrdinal = 0L
  private val appended = new RowTree.StoredRow
  private val sought = new RowTree.StoredRow
  private var found = appended

  /** The row at the map's cursor; `None` if a change has moved the cursor away. */
  private var looksAt = RowTree.None

  override def end: Long = endOrdinal
  override def first: Long = firstOrdinal
  override def size: Long = rows.size

  override def contains(ordinal: Long): Boolean = {
    val isThere = rows.contains(probeFor(ordinal))
    looksAt = if (isThere) ordinal else RowTree.None
    isThere
  }

  override def append(arrival: Long, length: Int): Int = {
    rows.append(probeFor(endOrdinal), header + length)
    appended.set(endOrdinal, rows)
    if (withArrival) Bytes.putLong(appended.bytes, appended.at, arrival)
    looksAt = endOrdinal
    endOrdinal += 1
    appended.at + header
  }

  override def target: Array[Byte] = appended.bytes

  override def next(ordinal: Long): Long = {
    val there = if (looksAt == ordinal) rows.next() else rows.above(probeFor(ordinal))
    look(there, endOrdinal)
  }

  override def previous(ordinal: Long): Long =
    look(rows.below(probeFor(ordinal)), RowTree.None)

  override def arrival(ordinal: Long): Long =
    if (withArrival) {
      find(ordinal)
      Bytes.getLong(found.bytes, found.at)
    } else 0L

  override def find(ordinal: Long): Unit = found =
    if (ordinal == appended.ordinal) appended
    else {
      if (ordinal != sought.ordinal) seek(ordinal)
      sought
    }

  override def rowBytes: Array[Byte] = found.bytes
  override def rowPosition: Int = found.at + header
  override def rowLength: Int = found.length - header

  override def remove(ordinal: Long): Unit = {
    if (looksAt == ordinal) rows.remove()
    else if (!rows.remove(probeFor(ordinal))) {
      throw new CorruptStateException(s"row $ordinal is missing")
    }
    looksAt = RowTree.None
    if (ordinal == appended.ordinal) appended.clear()
    if (ordinal == sought.ordinal) sought.clear()
    if (ordinal == firstOrdinal) findFirst()
  }

  override def takeBack(): Unit = {
    val newest = endOrdinal - 1
    endOrdinal = newest
    remove(newest)
  }

  override def release(until: Long): Unit = while (firstOrdinal < Math.min(until, endOrdinal)) {
    remove(firstOrdinal)
  }

  override def clear(): Unit = {
    rows.clear()
    startAt(0L)
  }

  override def skipTo(ordinal: Long): Unit = {
    if (size == 0) firstOrdinal = ordinal
    endOrdinal = ordinal
  }

  override def discard(): Unit = clear()

  override def save(out: ByteWriter): Unit = {
    out.number(endOrdinal)
    rows.save(out)
    out.number(firstOrdinal)
  }

  override def restore(in: ByteReader): Unit = {
    val end = in.count(Long.MaxValue)
    rows.restore(in)
    startAt(end)
    firstOrdinal = in.count(end)
    if (rows.size > end - firstOrdinal) {
      throw new CorruptStateException(s"${rows.size} rows from $firstOrdinal to $end")
    }
  }

  private def startAt(end: Long): Unit = {
    endOrdinal = end
    firstOrdinal = end
    looksAt = RowTree.None
    appended.clear()
    sought.clear()
  }

  private def seek(ordinal: Long): Unit = {
    val isThere = looksAt == ordinal || rows.contains(probeFor(ordinal))
    if (!isThere || rows.valueLength < header) {
      throw new CorruptStateException(s"row $ordinal is missing or cut off")
    }
    rowCheck.check(rows.valueBytes, rows.valueAt + header, rows.valueLength - header)
    looksAt = ordinal
    sought.set(ordinal, rows)
  }

  private def findFirst(): Unit = firstOrdinal = look(rows.first(), endOrdinal)

  /** Notes the row at the map's cursor and returns it, or `otherwise` if the map found no row. */
  private def look(isThere: Boolean, otherwise: Long): Long =
    if (isThere) {
      looksAt = RowTree.ordinal(rows.key)
      looksAt
    } else {
      looksAt = RowTree.None
      otherwise
    }

  private def probeFor(ordinal: Long): Array[Byte] = {
    Bytes.putLong(probe, 0, java.lang.Long.reverseBytes(ordinal))
    probe
  }
}

private object RowTree {
  val None = -1L

  /** The place of a row in an array, its arrival time included. */
  final class StoredRow {
    var ordinal: Long = None
    var bytes: Array[Byte] = Array.emptyByteArray
    var at: Int = 0
    var length: Int = 0

    /** Points to the row at the map's cursor. */
    def set(ordinal: Long, rows: PagedMap): Unit = {
      this.ordinal = ordinal
      bytes = rows.valueBytes
      at = rows.valueAt
      length = rows.valueLength
    }

    def clear(): Unit = {
      ordinal = None
      bytes = Array.emptyByteArray
    }
  }

  def ordinal(key: Array[Byte]): Long = {
    if (key.length != java.lang.Long.BYTES) {
      throw new CorruptStateException(s"an ordinal of ${key.length} bytes")
    }
    java.lang.Long.reverseBytes(Bytes.getLong(key, 0))
  }
}
