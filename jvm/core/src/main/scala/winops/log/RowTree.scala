package winops.log

/** The rows of one group in arrival order, of which any may be forgotten: a tree of pages by
  * ordinal.
  *
  * @param withArrival
  *   whether arrival times are kept; without them [[arrival]] is 0
  * @param rowCheck
  *   looks at each row that is found
  */
final class RowTree(pages: Pages, withArrival: Boolean, rowCheck: RowCheck = RowCheck.Nothing)
    extends RowStore {
  private val header = if (withArrival) java.lang.Long.BYTES else 0
  private val rows = pages.newMap()
  private val probe = new Array[Byte](java.lang.Long.BYTES)

  private var endOrdinal = 0L
  private var firstOrdinal = 0L
  private var appended: Array[Byte] = Array.emptyByteArray
  private var appendedOrdinal = RowTree.None
  private var sought: Array[Byte] = Array.emptyByteArray
  private var soughtOrdinal = RowTree.None
  private var found: Array[Byte] = Array.emptyByteArray

  /** The row that the map looks at, if no change has made it look away. */
  private var looksAt = RowTree.None

  override def end: Long = endOrdinal
  override def first: Long = firstOrdinal
  override def size: Long = rows.size

  override def append(arrival: Long, length: Int): Int = {
    appended = new Array[Byte](header + length)
    if (withArrival) Bytes.putLong(appended, 0, arrival)
    rows.append(RowTree.key(endOrdinal), appended)
    looksAt = endOrdinal
    appendedOrdinal = endOrdinal
    endOrdinal += 1
    header
  }

  override def target: Array[Byte] = appended

  override def next(ordinal: Long): Long = {
    val there = if (looksAt == ordinal) rows.next() else rows.above(probeFor(ordinal))
    look(there, endOrdinal)
  }

  override def previous(ordinal: Long): Long =
    look(rows.below(probeFor(ordinal)), RowTree.None)

  override def arrival(ordinal: Long): Long =
    if (withArrival) {
      find(ordinal)
      Bytes.getLong(found, 0)
    } else 0L

  override def find(ordinal: Long): Unit = found =
    if (ordinal == appendedOrdinal) appended
    else {
      if (ordinal != soughtOrdinal) seek(ordinal)
      sought
    }

  override def rowBytes: Array[Byte] = found
  override def rowPosition: Int = header
  override def rowLength: Int = found.length - header

  override def remove(ordinal: Long): Unit = {
    if (looksAt == ordinal) rows.remove()
    else if (!rows.remove(probeFor(ordinal))) {
      throw new CorruptStateException(s"row $ordinal is missing")
    }
    looksAt = RowTree.None
    if (ordinal == appendedOrdinal) appendedOrdinal = RowTree.None
    if (ordinal == soughtOrdinal) soughtOrdinal = RowTree.None
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
    appendedOrdinal = RowTree.None
    soughtOrdinal = RowTree.None
  }

  private def seek(ordinal: Long): Unit = {
    val value = if (looksAt == ordinal) rows.value else rows.get(probeFor(ordinal))
    if (value == null || value.length < header) {
      throw new CorruptStateException(s"row $ordinal is missing or cut off")
    }
    rowCheck.check(value, header, value.length - header)
    looksAt = ordinal
    sought = value
    soughtOrdinal = ordinal
  }

  private def findFirst(): Unit = firstOrdinal = look(rows.first(), endOrdinal)

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

  def key(ordinal: Long): Array[Byte] = {
    val bytes = new Array[Byte](java.lang.Long.BYTES)
    Bytes.putLong(bytes, 0, java.lang.Long.reverseBytes(ordinal))
    bytes
  }

  def ordinal(key: Array[Byte]): Long = {
    if (key.length != java.lang.Long.BYTES) {
      throw new CorruptStateException(s"an ordinal of ${key.length} bytes")
    }
    java.lang.Long.reverseBytes(Bytes.getLong(key, 0))
  }
}
