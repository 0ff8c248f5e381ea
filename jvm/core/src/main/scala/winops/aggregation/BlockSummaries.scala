package winops.aggregation

import winops.storage.btree.PagedMap
import winops.storage.bytes.{ByteReader, ByteWriter}

/** Summarizes whole blocks of consecutive rows, and blocks of blocks. Blocks begin at fixed row
  * numbers, so a summary depends only on the rows of its block. A block of level 1 has
  * [[FrontSummary.BlockRows]] rows. A block of a higher level has [[BlockSummaries.fanOut]]
  * blocks of the level below, merged oldest to newest.
  *
  * @param stored
  *   the blocks of long windows, from [[BlockSummaries.StoredLevel]] on, by level and number
  */
private[aggregation] final class BlockSummaries[S](summaries: Summaries[S], stored: PagedMap) {
  import BlockSummaries._

  /** Generation of the summaries in memory; summaries of older generations are invalid. */
  private var epoch = 0L
  private var isStored = false
  private val recent = Array.tabulate(MaxLevel + 1)(level => new Array[Block[S]](slots(level)))
  private val middles = new Array[Middle[S]](MaxLevel + 1)
  private val writer = new ByteWriter

  /** The summary of the whole blocks from row `from` until row `until`; valid until the next
    * call. The summary is merged from the largest blocks within the range, so the cost of a row
    * in a sliding window does not depend on the number of blocks.
    *
    * @param isStored
    *   true if summaries of blocks are stored
    */
  def between(from: Long, until: Long, isStored: Boolean): S = {
    this.isStored = isStored
    middle(1, from / FrontSummary.BlockRows, until / FrontSummary.BlockRows)
  }

  /** Stores a summary of a block of level 1 that was made elsewhere; returns a summary to reuse.
    */
  def exchange(number: Long, made: S): S = {
    val block = blockFor(1, number)
    val spare = block.summary
    block.summary = made
    block.number = number
    block.epoch = epoch
    spare
  }

  /** Invalidates the summaries in memory, because rows of another group or other row numbers
    * follow.
    */
  def clear(): Unit = epoch += 1

  /** Removes the stored blocks that lie before a row or contain it; a window that slides on never
    * needs them again.
    */
  def forgetBefore(row: Long): Unit = if (stored.size > 0) {
    var level = StoredLevel
    while (level <= MaxLevel && stored.size > 0) {
      val (first, end) = (key(level, 0L), key(level, row / rowsIn(level) + 1))
      while (stored.atLeast(first) && stored.isBefore(end)) {
        stored.remove(stored.key)
      }
      level += 1
    }
  }

  /** The summary of the blocks of a level from number `from` until number `until`. */
  private def middle(level: Int, from: Long, until: Long): S = {
    if (middles(level) == null) middles(level) = new Middle(summaries.create())
    val known = middles(level)
    if (known.epoch != epoch || known.from != from || known.until != until) {
      known.epoch = None
      val fan = fanOut(level).toLong
      val innerFrom = (from + fan - 1) / fan
      val innerUntil = until / fan
      summaries.clear(known.summary)
      if (level < MaxLevel && innerFrom < innerUntil) {
        appendBlocks(known.summary, level, from, innerFrom * fan)
        summaries.append(known.summary, middle(level + 1, innerFrom, innerUntil))
        appendBlocks(known.summary, level, innerUntil * fan, until)
      } else appendBlocks(known.summary, level, from, until)
      known.epoch = epoch
      known.from = from
      known.until = until
    }
    known.summary
  }

  private def appendBlocks(target: S, level: Int, from: Long, until: Long): Unit = {
    var number = from
    while (number < until) {
      summaries.append(target, summaryOf(level, number))
      number += 1
    }
  }

  private def summaryOf(level: Int, number: Long): S = {
    val block = blockFor(level, number)
    if (block.epoch != epoch || block.number != number) {
      block.epoch = None
      if (!read(level, number, block.summary)) make(level, number, block.summary)
      block.number = number
      block.epoch = epoch
    }
    block.summary
  }

  /** The slot of a block in memory, which may hold another block. */
  private def blockFor(level: Int, number: Long): Block[S] = {
    val slot = (number % slots(level)).toInt
    if (recent(level)(slot) == null) recent(level)(slot) = new Block(summaries.create())
    recent(level)(slot)
  }

  private def read(level: Int, number: Long, target: S): Boolean =
    level >= StoredLevel && stored.size > 0 && {
      val bytes = stored.get(key(level, number))
      if (bytes != null) summaries.read(target, new ByteReader(bytes))
      bytes != null
    }

  private def make(level: Int, number: Long, target: S): Unit = {
    summaries.clear(target)
    if (level == 1) {
      var row = number * FrontSummary.BlockRows
      val end = row + FrontSummary.BlockRows
      while (row < end) {
        summaries.add(target, row)
        row += 1
      }
    } else {
      val fan = fanOut(level - 1)
      appendBlocks(target, level - 1, number * fan, (number + 1) * fan)
    }
    if (isStored && level >= StoredLevel) {
      writer.clear()
      summaries.write(target, writer)
      stored.put(key(level, number), writer.toArray)
    }
  }
}

private object BlockSummaries {
  private val None = -1L

  private final class Block[S](var summary: S) {
    var number: Long = None
    var epoch: Long = None
  }

  private final class Middle[S](val summary: S) {
    var from: Long = None
    var until: Long = None
    var epoch: Long = None
  }

  /** The highest level; one of its blocks has more rows than a group may have. */
  val MaxLevel = 9

  /** The lowest stored level. Its blocks have as many rows as a segment of the log, so that the
    * blocks between the ends of a long window are merged without reading rows.
    */
  val StoredLevel = 2

  /** A limit above the number of rows that any machine can hold. */
  val MaxRows: Long = 1L << 40

  /** Number of blocks of a level in one block of the level above. */
  def fanOut(level: Int): Int = if (level == 1) FrontSummary.BlocksInSegment else 16

  /** Number of blocks of a level in memory, enough for those that a sliding window needs again.
    */
  def slots(level: Int): Int = if (level == 1) 16 else 32

  def rowsIn(level: Int): Long = {
    var rows = FrontSummary.BlockRows
    var below = 1
    while (below < level) {
      rows *= fanOut(below)
      below += 1
    }
    rows
  }

  def key(level: Int, number: Long): Array[Byte] = NodeKey.of(NodeKey.NoPrefix, level, number)
}
