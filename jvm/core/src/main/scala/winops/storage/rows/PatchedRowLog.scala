package winops.storage.rows

import winops.storage.btree.Pages
import winops.storage.bytes.{ByteReader, ByteWriter, Bytes, CorruptStateException}

/** Stores the rows of one group in arrival order in a [[RowLog]], and lets any row be removed or
  * replaced.
  *
  * A row of the log stays there as it is. A sorted map has a patch for each row that was replaced
  * or, without bytes, removed. Rows that are appended and leave oldest first therefore cost what
  * they cost in the log alone. If patched rows are most of the log, its oldest rows move into the
  * map, so that the size follows that of the window even if its oldest row never leaves.
  *
  * @param log
  *   the log, which has no other user
  * @param withArrival
  *   true if the log stores arrival times
  * @param rowCheck
  *   checks each row that is found in the map
  */
final class PatchedRowLog(
    log: RowLog,
    pages: Pages,
    withArrival: Boolean,
    rowCheck: RowCheck = RowCheck.Nothing)
    extends RowStore {
  import PatchedRowLog._

  private val header = if (withArrival) java.lang.Long.BYTES else 0
  private val patches = pages.newMap()
  private val probe = new Array[Byte](java.lang.Long.BYTES)

  private var firstOrdinal = 0L

  /** Number of rows of the log that have a patch, and of those that are removed. */
  private var patched = 0L
  private var removed = 0L

  // The row that was found, if it has a patch.
  private var isPatch = false
  private var patchBytes = Array.emptyByteArray
  private var patchAt = 0
  private var patchLength = 0

  override def end: Long = log.end
  override def first: Long = firstOrdinal
  override def size: Long = log.size - patched + (patches.size - removed)

  /** The log, for its newest rows. */
  def newest: RowLog = log

  override def append(arrival: Long, length: Int): Int = log.append(arrival, length)
  override def target: Array[Byte] = log.target
  override def next(ordinal: Long): Long = atLeast(ordinal + 1)

  override def previous(ordinal: Long): Long = {
    var there = Math.min(ordinal, end) - 1
    while (there >= log.first && isRemoved(there)) there -= 1
    if (there >= log.first) there
    else if (patches.size > 0 && patches.below(probeFor(Math.min(ordinal, log.first)))) {
      ordinalOf(patches.key)
    } else NoRow
  }

  override def contains(ordinal: Long): Boolean =
    ordinal >= firstOrdinal && ordinal < end && {
      if (ordinal < log.first) patches.contains(probeFor(ordinal)) else !isRemoved(ordinal)
    }

  override def arrival(ordinal: Long): Long =
    if (!withArrival) 0L
    else {
      look(ordinal)
      if (isPatch) Bytes.getLong(patchBytes, patchAt) else log.arrival(ordinal)
    }

  override def find(ordinal: Long): Unit = {
    look(ordinal)
    if (isPatch) rowCheck.check(rowBytes, rowPosition, rowLength) else log.find(ordinal)
  }

  override def rowBytes: Array[Byte] = if (isPatch) patchBytes else log.rowBytes
  override def rowPosition: Int = if (isPatch) patchAt + header else log.rowPosition
  override def rowLength: Int = if (isPatch) patchLength - header else log.rowLength

  override def remove(ordinal: Long): Unit = {
    if (ordinal < log.first) {
      if (!patches.remove(probeFor(ordinal))) throw missing(ordinal)
    } else if (ordinal >= end || isRemoved(ordinal)) throw missing(ordinal)
    else if (ordinal == log.first) {
      if (patched > 0 && patches.remove(probeFor(ordinal))) patched -= 1
      log.release(ordinal + 1)
      releaseRemoved()
    } else {
      if (patches.put(probeFor(ordinal), NoBytes) == null) patched += 1
      removed += 1
    }
    if (ordinal == firstOrdinal) firstOrdinal = atLeast(ordinal + 1)
    moveOldest()
  }

  override def takeBack(): Unit = log.takeBack()

  override def replace(ordinal: Long): Unit = {
    val newest = end - 1
    log.find(newest)
    val bytes = new Array[Byte](header + log.rowLength)
    System.arraycopy(log.rowBytes, log.rowPosition, bytes, header, log.rowLength)
    if (withArrival) Bytes.putLong(bytes, 0, arrival(ordinal))
    log.takeBack()
    if (!contains(ordinal)) throw missing(ordinal)
    if (patches.put(probeFor(ordinal), bytes) == null) patched += 1
    moveOldest()
  }

  override def release(until: Long): Unit =
    while (firstOrdinal < Math.min(until, end)) remove(firstOrdinal)

  /** A row of a greater number than the end leaves no hole in the log. */
  override def skipTo(ordinal: Long): Unit = if (ordinal > end) {
    val wasEmpty = size == 0
    while (log.size > 0) moveFirst()
    log.skipTo(ordinal)
    if (wasEmpty) firstOrdinal = ordinal
  }

  override def clear(): Unit = {
    log.clear()
    patches.clear()
    start(log.first)
  }

  override def discard(): Unit = {
    log.discard()
    patches.clear()
    start(log.first)
  }

  override def save(out: ByteWriter): Unit = {
    patches.save(out)
    if (patches.size > 0) {
      out.number(patched)
      out.number(removed)
      out.number(log.first - firstOrdinal)
    }
    log.save(out)
  }

  override def restore(in: ByteReader): Unit = {
    patches.restore(in)
    val (ofLog, gone, before) =
      if (patches.size > 0) (in.count(patches.size), in.count(patches.size), in.number())
      else (0L, 0L, 0L)
    log.restore(in)
    start(log.first - before)
    patched = ofLog
    removed = gone
    if (gone > ofLog || ofLog > log.size || firstOrdinal < 0 || firstOrdinal > end) {
      throw new CorruptStateException(s"$ofLog of ${log.size} rows have changed, $gone are gone")
    }
  }

  private def start(first: Long): Unit = {
    firstOrdinal = first
    patched = 0L
    removed = 0L
    isPatch = false
  }

  /** The oldest stored row from `ordinal` on; [[end]] if there is none. */
  private def atLeast(ordinal: Long): Long = {
    val isMoved = ordinal < log.first && patches.size > 0 &&
      patches.atLeast(probeFor(ordinal)) && ordinalOf(patches.key) < log.first
    if (isMoved) ordinalOf(patches.key)
    else {
      var there = Math.max(ordinal, log.first)
      while (there < end && isRemoved(there)) there += 1
      there
    }
  }

  private def look(ordinal: Long): Unit = {
    findPatch(ordinal)
    if (if (isPatch) patchLength <= header else ordinal < log.first) throw missing(ordinal)
  }

  private def findPatch(ordinal: Long): Unit = {
    isPatch = patches.size > 0 && patches.contains(probeFor(ordinal))
    if (isPatch) {
      patchBytes = patches.valueBytes
      patchAt = patches.valueAt
      patchLength = patches.valueLength
    }
  }

  private def isRemoved(ordinal: Long): Boolean =
    removed > 0 && patches.contains(probeFor(ordinal)) && patches.valueLength == 0

  /** Releases the removed rows at the front of the log. */
  private def releaseRemoved(): Unit = while (log.size > 0 && isRemoved(log.first)) {
    patches.remove(probeFor(log.first))
    patched -= 1
    removed -= 1
    log.release(log.first + 1)
  }

  /** Shortens a log most of whose rows have patches. */
  private def moveOldest(): Unit = if (patched > MostPatched && patched > log.size / 2) {
    while (log.size > 0 && patched > log.size / 4) moveFirst()
    releaseRemoved()
  }

  /** Moves the first row of the log into the map. */
  private def moveFirst(): Unit = {
    val ordinal = log.first
    findPatch(ordinal)
    if (isPatch) {
      patched -= 1
      if (patchLength == 0) {
        patches.remove(probeFor(ordinal))
        removed -= 1
      }
    } else {
      val arrived = log.arrival(ordinal)
      log.find(ordinal)
      val bytes = new Array[Byte](header + log.rowLength)
      System.arraycopy(log.rowBytes, log.rowPosition, bytes, header, log.rowLength)
      if (withArrival) Bytes.putLong(bytes, 0, arrived)
      val _ = patches.put(probeFor(ordinal), bytes)
    }
    isPatch = false
    log.release(ordinal + 1)
  }

  private def probeFor(ordinal: Long): Array[Byte] = {
    Bytes.putLong(probe, 0, java.lang.Long.reverseBytes(ordinal))
    probe
  }

  private def ordinalOf(key: Array[Byte]): Long = {
    if (key.length != java.lang.Long.BYTES) {
      throw new CorruptStateException(s"an ordinal of ${key.length} bytes")
    }
    java.lang.Long.reverseBytes(Bytes.getLong(key, 0))
  }

  private def missing(ordinal: Long): CorruptStateException =
    new CorruptStateException(s"row $ordinal is missing")
}

object PatchedRowLog {

  /** Number of rows of the log that may have patches whatever its length is. */
  val MostPatched = 64L

  private val NoRow = -1L

  /** The patch of a removed row. */
  private val NoBytes = Array.emptyByteArray
}
