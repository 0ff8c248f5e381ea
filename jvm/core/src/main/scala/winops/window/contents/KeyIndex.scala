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
  * and the number of the row, in runs of blocks that are written once, as in a log-structured
  * merge tree: some tens of rows make a run of one block, and some runs of about one length make
  * a longer one, which has a block for each part of the hashes. A row is thus written once for
  * each factor of [[KeyIndex.Sizes.runs]] in the number of rows, whatever the order of the keys,
  * and a key is sought in one block of each run.
  *
  * The pair of a row that has left stays until its run is merged: no number is given to a row
  * twice, so a pair is valid if its row is stored and has the key. A run is not read if all its
  * rows are older than the oldest one of the group. It stays in the store until it is merged with
  * newer runs, because only the last blocks can be removed.
  *
  * @param key
  *   the key of a row
  * @param blocks
  *   the runs, oldest first, and behind them a block with their lengths
  * @param hashOf
  *   the hash of a key
  */
private[window] final class KeyIndex(
    key: RowKey,
    rows: Rows,
    blocks: NumberedBlocks,
    hashOf: Array[Byte] => Int = KeyIndex.hashOf,
    sizes: KeyIndex.Sizes = KeyIndex.Sizes()) {

  /** The rows from `mapped` on by their keys. They are read when the first key is sought. */
  private val newest = mutable.HashMap.empty[ByteBuffer, Long]
  private var areNewestRead = true

  /** The number of the row behind the newest row in the runs. */
  private var mapped = 0L

  /** The runs, oldest first. They are read when a key is first sought in them. */
  private val runs = mutable.ArrayBuffer.empty[KeyRun]
  private var areRunsRead = true

  /** The number of pairs in the runs. */
  private var pairs = 0L

  /** The number of the oldest runs all of whose rows have left, and of the pairs in these. */
  private var leftRuns = 0
  private var leftPairs = 0L

  private val part = new KeyPairs
  private val writer = new ByteWriter

  // The key that was sought last.
  private var sought = Array.emptyByteArray

  /** The number of blocks. */
  def length: Long = blocks.end

  /** The stored row with the key of `row`, the row that was appended last; [[WindowView.NoRow]]
    * if there is none.
    */
  def find(row: Long): Long = {
    readNewest(row)
    sought = key.of(row)
    newest.get(ByteBuffer.wrap(sought)) match {
      // No older row had the key when this one was inserted.
      case Some(there) => if (rows.contains(there)) there else WindowView.NoRow
      case None => if (blocks.end > 0) findInRuns() else WindowView.NoRow
    }
  }

  /** Adds the row that [[find]] was called with last. */
  def add(row: Long): Unit = newest.update(ByteBuffer.wrap(sought), row)

  /** Moves the newest rows into a run if they are many, and merges runs of which many rows have
    * left. Called after each step, as rows have been inserted or have left.
    *
    * @param count
    *   the number of rows of the group
    */
  def settle(count: Long): Unit = {
    if (areNewestRead && (newest.size >= sizes.newest || isFarBehind)) {
      newest.filterInPlace((_, row) => rows.contains(row))
      mapped = rows.next(mapped - 1)
      if (newest.size >= sizes.least || newest.nonEmpty && isFarBehind) writeNewest()
    }
    if (count == 0) removeRuns()
    else if (areRunsRead) {
      noteLeft()
      val most = 2 * count + sizes.removed
      if (pairs - leftPairs > most || pairs > most + count) mergeFrom(0)
    }
    writeLengths()
  }

  def clear(): Unit = {
    removeRuns()
    newest.clear()
    areNewestRead = true
    mapped = 0L
  }

  def save(out: ByteWriter): Unit = {
    out.number(rows.end - Math.max(mapped, rows.first))
    out.number(blocks.end)
  }

  def restore(in: ByteReader): Unit = {
    mapped = rows.end - in.count(rows.end)
    newest.clear()
    areNewestRead = false
    // A run has at most two blocks for each pair that it had, with the block of lengths.
    blocks.expect(in.count(2 * mapped))
    runs.clear()
    countPairs()
    areRunsRead = blocks.end == 0
  }

  /** True if many rows have come since the last run, of which few are there. */
  private def isFarBehind: Boolean = rows.end - mapped >= sizes.behind

  /** False if all rows of the run have left. */
  private def isAlive(run: KeyRun): Boolean = run.last >= rows.first

  /** Counts the pairs of runs that have changed. */
  private def countPairs(): Unit = {
    pairs = runs.iterator.map(_.count).sum
    leftRuns = 0
    leftPairs = 0L
  }

  /** Counts the oldest runs all of whose rows have left. */
  private def noteLeft(): Unit = while (leftRuns < runs.size && !isAlive(runs(leftRuns))) {
    leftPairs += runs(leftRuns).count
    leftRuns += 1
  }

  private def readNewest(until: Long): Unit = if (!areNewestRead) {
    areNewestRead = true
    var row = rows.next(mapped - 1)
    while (row < until) {
      newest.update(ByteBuffer.wrap(key.of(row)), row)
      row = rows.next(row)
    }
  }

  private def readRuns(): Unit = if (!areRunsRead) {
    areRunsRead = true
    val in = new ByteReader(blocks.get(blocks.end - 1))
    var first = 0L
    while (in.remaining > 0) {
      val run = KeyRun.read(in, first, rows.end)
      runs += run
      first = run.end
    }
    if (first != blocks.end - 1) {
      throw new CorruptStateException(s"$first blocks of keys are expected in ${blocks.end}")
    }
    countPairs()
  }

  private def findInRuns(): Long = {
    readRuns()
    val hash = hashOf(sought)
    var found = WindowView.NoRow
    var i = runs.size - 1
    while (found == WindowView.NoRow && i >= 0) {
      if (isAlive(runs(i))) {
        found = new KeyBlock(blocks.get(runs(i).blockOf(hash))).find(hash, isSought)
      }
      i -= 1
    }
    found
  }

  private val isSought: Long => Boolean =
    row => rows.contains(row) && Arrays.equals(key.of(row), sought)

  /** Writes the newest rows as a run, and merges runs of about one length. */
  private def writeNewest(): Unit = {
    readRuns()
    part.clear()
    newest.foreachEntry((of, row) => part.add(hashOf(of.array), row))
    newest.clear()
    mapped = rows.end
    replaceFrom(runs.size, part.size.toLong, bits = 0, Seq(part.toBlock(writer)), rows.end - 1)
    var level = 0
    while (level <= runs.iterator.map(levelOf).max) {
      val from = runs.lastIndexWhere(levelOf(_) > level) + 1
      if (runs.iterator.drop(from).count(levelOf(_) == level) >= sizes.runs) mergeFrom(from)
      level += 1
    }
  }

  /** The number of merges of full runs that give so many pairs. */
  private def levelOf(run: KeyRun): Int = {
    var level = 0
    var least = sizes.least.toLong * sizes.runs
    while (run.count >= least) {
      level += 1
      least *= sizes.runs
    }
    level
  }

  /** Makes one run of the pairs of stored rows in the runs from a place on. */
  private def mergeFrom(from: Int): Unit = {
    val sources = runs.iterator.drop(from).filter(isAlive).map(new Source(_)).toSeq
    val last = runs.last.last
    val bits = bitsFor(sources.iterator.map(_.run.count).sum)
    var count = 0L
    val merged = Seq.tabulate(1 << bits) { i =>
      part.clear()
      sources.foreach(_.moveWhile(hash => KeyRun.partOf(hash, bits) == i))
      count += part.size
      part.toBlock(writer)
    }
    if (count == 0) replaceFrom(from, 0L, bits = 0, Nil, last)
    else replaceFrom(from, count, bits, merged, last)
  }

  /** Replaces the runs from a place on, and the block with their lengths, by one run, or by none
    * if it has no pairs.
    */
  private def replaceFrom(
      from: Int,
      count: Long,
      bits: Int,
      of: Seq[Array[Byte]],
      last: Long): Unit = {
    val first = if (from == 0) 0L else runs(from - 1).end
    runs.takeInPlace(from)
    blocks.truncate(first)
    of.foreach(blocks.append)
    if (count > 0) runs += new KeyRun(first, bits, count, last)
    countPairs()
  }

  /** Appends the block with the lengths of the runs if they have changed. */
  private def writeLengths(): Unit = if (runs.nonEmpty && blocks.end == runs.last.end) {
    writer.clear()
    runs.foreach(_.write(writer))
    blocks.append(writer.toArray)
  }

  private def removeRuns(): Unit = {
    // Blocks are removed one by one, so a damaged number of them must not be taken as it is.
    if (!areRunsRead && blocks.end > 0) {
      val _ = blocks.get(blocks.end - 1)
    }
    blocks.truncate(0L)
    runs.clear()
    countPairs()
    areRunsRead = true
  }

  private def bitsFor(pairs: Long): Int =
    Math.min(
      KeyRun.MostBits,
      java.lang.Long.SIZE -
        java.lang.Long.numberOfLeadingZeros(Math.max(0L, pairs - 1) / sizes.part))

  /** The pairs of a run in the order of their hashes. */
  private final class Source(val run: KeyRun) {
    private var number = run.first
    private var block = new KeyBlock(blocks.get(number))
    private var i = 0

    /** Moves pairs of stored rows to `part`. */
    def moveWhile(isNext: Int => Boolean): Unit =
      while (hasNext && isNext(block.hash(i))) {
        if (rows.contains(block.number(i))) part.add(block.hash(i), block.number(i))
        i += 1
      }

    private def hasNext: Boolean = {
      while (i == block.count && number < run.end - 1) {
        number += 1
        block = new KeyBlock(blocks.get(number))
        i = 0
      }
      i < block.count
    }
  }
}

private[window] object KeyIndex {

  /** The sizes at which rows are written as runs, and runs are merged.
    *
    * @param newest
    *   the number of rows that are sought in memory at most
    * @param least
    *   the number of rows that make a run at least, unless these are `behind`
    * @param behind
    *   the number of rows, with those that have left, after which a run is written
    * @param runs
    *   the number of runs of one level that become one of the next
    * @param part
    *   the number of pairs in a block, unless hashes are equal, about at most
    * @param removed
    *   the number of pairs, beyond twice the number of the rows that are there, above which all
    *   runs are merged; if runs all of whose rows have left count too, beyond three times
    */
  final case class Sizes(
      newest: Int = 64,
      least: Int = 48,
      behind: Int = 256,
      runs: Int = 8,
      part: Int = 128,
      removed: Int = 512)

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
