package winops.window.contents

import java.nio.ByteBuffer
import java.util.Arrays

import scala.collection.mutable

import winops.storage.btree.PagedMap
import winops.storage.bytes.{ByteReader, ByteWriter, Bytes, CorruptStateException}
import winops.storage.rows.Rows
import winops.window.expression.{RowKey, WindowView}

/** Finds the row of a key among the rows of a group, which has one at most.
  *
  * Only the newest rows are found in memory; a map has the others. Rows get into the map many at
  * a time, so that few pages are written for each. A row that has left stays in the map until
  * such rows are a third of it: no number is given to a row twice, so an entry is valid if its
  * row is stored. Groups of few rows have no map.
  *
  * An entry has no value. Its key is the key of the row, or a hash of a long one, followed by the
  * number of the row.
  *
  * @param key
  *   the key of a row, of which none is a prefix of another one
  * @param hashOf
  *   the hash of a long key
  */
private[window] final class KeyIndex(
    key: RowKey,
    rows: Rows,
    index: PagedMap,
    hashOf: Array[Byte] => Long = KeyIndex.hashOf) {
  import KeyIndex._

  /** The rows from `mapped` on by their keys. They are read when the first key is sought. */
  private val newest = mutable.HashMap.empty[ByteBuffer, Long]
  private var areRead = true

  /** The number of the row behind the newest row in the map. */
  private var mapped = 0L

  // The key that was sought last, and its row.
  private var sought = Array.emptyByteArray
  private var soughtOf = WindowView.NoRow

  /** The stored row with the key of `row`, the row that was appended last; [[WindowView.NoRow]]
    * if there is none.
    */
  def find(row: Long): Long = {
    read(row)
    sought = key.of(row)
    soughtOf = row
    val there = newest.getOrElse(ByteBuffer.wrap(sought), WindowView.NoRow)
    if (there != WindowView.NoRow && rows.contains(there)) there
    else if (index.size > 0) findInMap()
    else WindowView.NoRow
  }

  /** Adds the row that [[find]] was called with. */
  def add(row: Long): Unit = {
    if (soughtOf != row) {
      read(row)
      sought = key.of(row)
    }
    newest.update(ByteBuffer.wrap(sought), row)
    soughtOf = WindowView.NoRow
  }

  /** Moves rows into the map if there are many that it does not have. Rows that left have been
    * removed.
    *
    * @param size
    *   the number of rows of the group
    */
  def settle(size: Long): Unit = {
    if (newest.size >= MostNewest) {
      newest.filterInPlace((_, row) => rows.contains(row))
      if (newest.size >= LeastMapped) {
        newest.foreachEntry((of, row) => index.put(entry(of.array, row, hashOf), NoBytes))
        newest.clear()
        mapped = rows.end
        index.keepOutOfGroup(LeastMapped)
      }
    }
    if (index.size > size + size / 2 + MostNewest) {
      if (size == 0) index.clear() else sweep()
    }
  }

  def clear(): Unit = {
    newest.clear()
    areRead = true
    index.clear()
    mapped = 0L
    soughtOf = WindowView.NoRow
  }

  def save(out: ByteWriter): Unit = {
    index.save(out)
    out.number(rows.end - Math.max(mapped, rows.first))
  }

  def restore(in: ByteReader): Unit = {
    index.restore(in)
    mapped = rows.end - in.count(rows.end)
    newest.clear()
    areRead = false
    soughtOf = WindowView.NoRow
  }

  private def read(until: Long): Unit = if (!areRead) {
    areRead = true
    var row = rows.next(mapped - 1)
    while (row < until) {
      newest.update(ByteBuffer.wrap(key.of(row)), row)
      row = rows.next(row)
    }
  }

  private def findInMap(): Long = {
    val front = entry(sought, 0L, hashOf)
    val length = front.length - java.lang.Long.BYTES
    var found = WindowView.NoRow
    var more = index.atLeast(front)
    while (more && found == WindowView.NoRow) {
      val there = index.key
      more = there.length == front.length && Arrays.equals(there, 0, length, front, 0, length)
      if (more) {
        val row = numberOf(there)
        val isIt = rows.contains(row) &&
          (sought.length <= LongestWhole || Arrays.equals(key.of(row), sought))
        // Reading rows may move the pages of the map.
        if (isIt) found = row else more = index.next()
      }
    }
    found
  }

  /** Removes the entries of rows that have left. */
  private def sweep(): Unit = {
    val gone = mutable.ArrayBuffer.empty[Array[Byte]]
    var from = NoBytes
    while (from != null) {
      gone.clear()
      var visited = 0
      var more = index.atLeast(from)
      while (more && visited < SweptAtOnce) {
        val there = index.key
        if (!rows.contains(numberOf(there))) gone += there
        visited += 1
        more = index.next()
      }
      from = if (more) index.key else null
      gone.foreach(index.remove(_))
    }
  }

  private def numberOf(entry: Array[Byte]): Long = {
    val at = entry.length - java.lang.Long.BYTES
    if (at < 0) throw new CorruptStateException("an entry of a key is too short")
    java.lang.Long.reverseBytes(Bytes.getLong(entry, at))
  }
}

private[window] object KeyIndex {

  /** Number of rows that are sought in memory at most. */
  val MostNewest = 64

  /** Number of rows that are moved into the map together at least. */
  val LeastMapped = 48

  /** Number of bytes of the longest key that is in the map whole. */
  val LongestWhole = 16

  private val HashBytes = 5
  private val SweptAtOnce = 4096
  private val NoBytes = Array.emptyByteArray

  /** The key of an entry. */
  private def entry(key: Array[Byte], row: Long, hashOf: Array[Byte] => Long): Array[Byte] = {
    val isWhole = key.length <= LongestWhole
    val front = 1 + (if (isWhole) key.length else HashBytes)
    val bytes = new Array[Byte](front + java.lang.Long.BYTES)
    if (isWhole) {
      bytes(0) = 1
      System.arraycopy(key, 0, bytes, 1, key.length)
    } else {
      var hash = hashOf(key)
      var i = 1
      while (i < front) {
        bytes(i) = hash.toByte
        hash >>>= java.lang.Byte.SIZE
        i += 1
      }
    }
    Bytes.putLong(bytes, front, java.lang.Long.reverseBytes(row))
    bytes
  }

  private def hashOf(key: Array[Byte]): Long = {
    var hash = 0xcbf29ce484222325L
    var i = 0
    while (i < key.length) {
      hash = (hash ^ (key(i) & 0xff)) * 0x100000001b3L
      i += 1
    }
    hash ^= hash >>> 32
    hash *= 0x9e3779b97f4a7c15L
    hash ^ (hash >>> 29)
  }
}
