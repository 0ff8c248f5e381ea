package winops.window.contents

import java.nio.ByteBuffer
import java.util.Arrays

import scala.collection.mutable

import winops.storage.btree.NumberedBlocks
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}
import winops.storage.rows.Rows
import winops.window.expression.{RowKey, WindowView}

/** Finds the row of a key among the rows of a group, which has one at most.
  *
  * The keys of the newest rows are read from the rows. The others are pairs of a hash of the key
  * and the number of the row, in blocks: a log has a block for some tens of rows, and is read as
  * a whole; a table has a block for each part of the hashes. When the log has become long, its
  * pairs and those of the table are written as a new table. A row thus costs a few bytes, written
  * a few times, whatever the order of the keys.
  *
  * The pair of a row that has left stays until the next table: no number is given to a row twice,
  * so a pair is valid if its row is stored and has the key. Groups of few rows have no blocks.
  *
  * @param key
  *   the key of a row
  * @param blocks
  *   first those of the table, and then those of the log
  * @param hashOf
  *   the hash of a key
  */
private[window] final class KeyIndex(
    key: RowKey,
    rows: Rows,
    blocks: NumberedBlocks,
    hashOf: Array[Byte] => Int = KeyIndex.hashOf) {
  import KeyIndex._

  /** The rows from `mapped` on by their keys. They are read when the first key is sought. */
  private val newest = mutable.HashMap.empty[ByteBuffer, Long]
  private var areRead = true

  /** The number of the row behind the newest row in the blocks. */
  private var mapped = 0L

  /** The number of pairs in the table and in the log. */
  private var inTable = 0L
  private var inLog = 0L

  /** The table has a block for each value of so many highest bits of a hash, if it has pairs. */
  private var bits = 0

  /** The pairs of the log, which are read when a key is first sought in it. */
  private val log = new KeyPairs
  private val part = new KeyPairs
  private val writer = new ByteWriter

  // The key that was sought last, and its row.
  private var sought = Array.emptyByteArray
  private var soughtOf = WindowView.NoRow

  /** The number of pairs in the blocks. */
  def size: Long = inTable + inLog

  /** The stored row with the key of `row`, the row that was appended last; [[WindowView.NoRow]]
    * if there is none.
    */
  def find(row: Long): Long = {
    read(row)
    sought = key.of(row)
    soughtOf = row
    val there = newest.getOrElse(ByteBuffer.wrap(sought), WindowView.NoRow)
    if (there != WindowView.NoRow && rows.contains(there)) there
    else if (size > 0) findInBlocks()
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

  /** Moves rows into the blocks if there are many that these do not have. Rows that left have
    * been removed.
    *
    * @param count
    *   the number of rows of the group
    */
  def settle(count: Long): Unit = {
    if (newest.size >= MostNewest) {
      newest.filterInPlace((_, row) => rows.contains(row))
      if (newest.size >= LeastMapped) writeNewest()
    }
    val mostInLog = Math.max(LeastInLog, Math.min(count / 3, MostInLog))
    if (count == 0 && size > 0) removeAll()
    else if (inLog > mostInLog || size > 2 * count + 2 * LeastInLog) writeTable(count)
  }

  def clear(): Unit = {
    removeAll()
    newest.clear()
    areRead = true
    mapped = 0L
    soughtOf = WindowView.NoRow
  }

  def save(out: ByteWriter): Unit = {
    out.number(rows.end - Math.max(mapped, rows.first))
    out.number(blocks.end - blocks.first)
    if (size > 0) {
      out.number(blocks.first)
      out.number(inTable)
      out.number(inLog)
      out.byte(bits)
    }
  }

  def restore(in: ByteReader): Unit = {
    mapped = rows.end - in.count(rows.end)
    newest.clear()
    areRead = false
    soughtOf = WindowView.NoRow
    log.clear()
    val stored = in.count(Int.MaxValue.toLong)
    val first = if (stored == 0) 0L else in.count(MostBlocks)
    blocks.expect(first, first + stored)
    inTable = if (stored == 0) 0L else in.count(Int.MaxValue.toLong)
    inLog = if (stored == 0) 0L else in.count(Int.MaxValue.toLong)
    bits = if (stored == 0) 0 else in.byte()
    if (bits < 0 || bits > MostBits || stored < tableBlocks) {
      throw new CorruptStateException(s"$stored blocks have $inTable keys in 2 ^ $bits parts")
    }
  }

  private def read(until: Long): Unit = if (!areRead) {
    areRead = true
    var row = rows.next(mapped - 1)
    while (row < until) {
      newest.update(ByteBuffer.wrap(key.of(row)), row)
      row = rows.next(row)
    }
  }

  private def findInBlocks(): Long = {
    val hash = hashOf(sought)
    readLog()
    var found = log.find(hash, isSought)
    if (found == WindowView.NoRow && inTable > 0) {
      val block = new KeyBlock(blocks.get(blocks.first + partOf(hash, bits)))
      var i = 0
      while (found == WindowView.NoRow && i < block.count) {
        if (block.hash(i) == hash && isSought(block.number(i))) found = block.number(i)
        i += 1
      }
    }
    found
  }

  private val isSought: Long => Boolean =
    row => rows.contains(row) && Arrays.equals(key.of(row), sought)

  private def readLog(): Unit = if (log.size < inLog) {
    log.clear()
    var number = blocks.first + tableBlocks
    while (number < blocks.end) {
      log.addAll(new KeyBlock(blocks.get(number)))
      number += 1
    }
    if (log.size != inLog) {
      throw new CorruptStateException(s"${log.size} keys are in a log of $inLog")
    }
  }

  private def writeNewest(): Unit = {
    readLog()
    part.clear()
    newest.foreachEntry { (of, row) =>
      val hash = hashOf(of.array)
      part.add(hash, row)
      log.add(hash, row)
    }
    blocks.append(part.toBlock(writer))
    inLog += part.size
    newest.clear()
    mapped = rows.end
  }

  /** Writes the pairs of stored rows as a new table, and removes the former one and the log. */
  private def writeTable(count: Long): Unit = {
    readLog()
    val former = blocks.first
    val end = blocks.end
    val ofLog = log.inOrder
    val now = bitsFor(count)
    // Both tables are in the order of the hashes, so they agree at each of these parts' ends.
    val common = if (inTable == 0) 0 else Math.min(bits, now)
    var fromLog = 0
    var written = 0L
    var i = 0
    while (i < (1 << common)) {
      val all = new KeyPairs
      if (inTable > 0) {
        val each = 1 << (bits - common)
        (i * each until (i + 1) * each).foreach { number =>
          addStored(new KeyBlock(blocks.get(former + number)), all)
        }
      }
      while (fromLog < ofLog.length && partOf(log.hash(ofLog(fromLog)), common) == i) {
        val place = ofLog(fromLog)
        if (rows.contains(log.number(place))) all.add(log.hash(place), log.number(place))
        fromLog += 1
      }
      appendParts(all, i, common, now)
      written += all.size
      i += 1
    }
    blocks.removeBefore(end)
    log.clear()
    bits = now
    inLog = 0L
    inTable = written
    if (written == 0) removeAll()
  }

  private def addStored(block: KeyBlock, to: KeyPairs): Unit = {
    var i = 0
    while (i < block.count) {
      if (rows.contains(block.number(i))) to.add(block.hash(i), block.number(i))
      i += 1
    }
  }

  /** Appends the blocks of the pairs whose first `common` bits are `of`. */
  private def appendParts(pairs: KeyPairs, of: Int, common: Int, bits: Int): Unit = {
    val places = pairs.inOrder
    val each = 1 << (bits - common)
    var next = 0
    (of * each until (of + 1) * each).foreach { number =>
      part.clear()
      while (next < places.length && partOf(pairs.hash(places(next)), bits) == number) {
        part.add(pairs.hash(places(next)), pairs.number(places(next)))
        next += 1
      }
      blocks.append(part.toBlock(writer))
    }
  }

  private def removeAll(): Unit = {
    blocks.clear()
    log.clear()
    bits = 0
    inTable = 0L
    inLog = 0L
  }

  private def tableBlocks: Long = if (inTable == 0) 0L else 1L << bits
}

private[window] object KeyIndex {

  /** Number of rows that are sought in memory at most. */
  private val MostNewest = 64

  /** Number of rows that get a block of the log at least. */
  private val LeastMapped = 48

  /** Number of pairs from which a log becomes part of the table, at least and at most. Between
    * them, this is a third of the rows.
    */
  private val LeastInLog = 256L
  private val MostInLog = 1L << 16

  /** About the number of pairs in a block of the table. */
  private val InPart = 512L
  private val MostBits = 20
  private val MostBlocks = 1L << 48

  private def bitsFor(pairs: Long): Int =
    Math.min(MostBits, java.lang.Long.SIZE - java.lang.Long.numberOfLeadingZeros(pairs / InPart))

  private def partOf(hash: Int, bits: Int): Int =
    if (bits == 0) 0 else hash >>> (Integer.SIZE - bits)

  private def hashOf(key: Array[Byte]): Int = {
    var hash = 0xcbf29ce484222325L
    var i = 0
    while (i < key.length) {
      hash = (hash ^ (key(i) & 0xff)) * 0x100000001b3L
      i += 1
    }
    hash ^= hash >>> 32
    hash *= 0x9e3779b97f4a7c15L
    (hash ^ (hash >>> 29)).toInt
  }
}
