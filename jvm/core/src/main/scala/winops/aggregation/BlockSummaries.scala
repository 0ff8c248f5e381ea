package winops.aggregation

import winops.storage.btree.{NumberedValues, PagedMap}
import winops.storage.bytes.{ByteReader, ByteWriter}

/** Summarizes whole blocks of consecutive rows, and blocks of blocks. Blocks begin at fixed row
  * numbers, so a summary depends only on the rows of its block. A block of level 1 has
  * [[FrontSummary.BlockRows]] rows. A block of a higher level has [[BlockSummaries.fanOut]]
  * blocks of the level below, merged oldest to newest.
  *
  * @param values
  *   stores short summaries by level and number, in levels from 1 on
  * @param stored
  *   the long summaries of blocks, from [[BlockSummaries.StoredLevel]] on, by level and number
  */
private[aggregation] final class BlockSummaries[S](
    summaries: Summaries[S],
    values: NumberedValues,
    stored: PagedMap) {
  import BlockSummaries._

  /** Generation of the summaries in memory; summaries of older generations are invalid. */
  private var epoch = 0L
  private var isLong = false
  private var isStable = false
  private val recent = Array.tabulate(MaxLevel + 1)(level => new Array[Block[S]](slots(level)))
  private val middles = new Array[Middle[S]](MaxLevel + 1)
  private val writer = new ByteWriter

  /** The summary of the whole blocks from row `from` until row `until`; valid until the next
    * call. The summary is merged from the largest blocks within the range, so the cost of a row
    * in a sliding window does not depend on the number of blocks.
    */
  def between(from: Long, until: Long): S =
    middle(1, from / FrontSummary.BlockRows, until / FrontSummary.BlockRows)

  /** Says which summaries are stored from now on.
    *
    * @param isLong
    *   true if the summaries of blocks from [[BlockSummaries.StoredLevel]] on are stored
    * @param isStable
    *   true if the short summaries of all blocks are stored, because most rows of the window stay
    *   in it for several micro-batches
    */
  def storeFor(isLong: Boolean, isStable: Boolean): Unit = {
    this.isLong = isLong
    this.isStable = isStable
  }

  /** The summary that [[between]] has given for these rows, or null if it is not known. */
  def known(from: Long, until: Long): S = {
    val known = middles(1)
    if (known != null && known.epoch == epoch && known.from * FrontSummary.BlockRows == from &&
      known.until * FrontSummary.BlockRows == until) {
      known.summary
    } else null.asInstanceOf[S]
  }

  /** Sets the summary of the whole blocks from row `from` until row `until`, by `read`. */
  def resume(from: Long, until: Long, read: S => Unit): Unit = {
    val known = middleOf(1)
    known.epoch = None
    read(known.summary)
    known.epoch = epoch
    known.from = from / FrontSummary.BlockRows
    known.until = until / FrontSummary.BlockRows
  }

  /** Takes a summary of a block of level 1 that was made elsewhere; returns a summary to reuse.
    */
  def exchange(number: Long, made: S): S = {
    val block = blockFor(1, number)
    val spare = block.summary
    block.summary = made
    block.number = number
    block.epoch = epoch
    store(1, number, made)
    spare
  }

  /** Invalidates the summaries in memory, because rows of another group or other row numbers
    * follow.
    */
  def clear(): Unit = epoch += 1

  /** Removes the stored blocks that lie before a row or contain it; a window that slides on never
    * needs them again.
    */
  def forgetBefore(row: Long): Unit = {
    var level = 1
    while (level <= values.highestLevel) {
      values.removeBefore(level, row / rowsIn(level) + 1)
      level += 1
    }
    if (stored.size > 0) forgetLongBefore(row)
  }

  /** Says after a restore that the blocks up to a level may be stored, for a window from `head`
    * until `tail`.
    */
  def expect(highestLevel: Int, head: Long, tail: Long): Unit = {
    var level = 1
    while (level <= Math.min(highestLevel, MaxLevel)) {
      values.expect(level, head / rowsIn(level) + 1, Math.max(0L, tail - 1) / rowsIn(level))
      level += 1
    }
  }

  private def forgetLongBefore(row: Long): Unit = {
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
    val known = middleOf(level)
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

  private def middleOf(level: Int): Middle[S] = {
    if (middles(level) == null) middles(level) = new Middle(summaries.create())
    middles(level)
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

  private def read(level: Int, number: Long, target: S): Boolean = {
    val short = values.get(level, number)
    val bytes =
      if (short != null || level < StoredLevel || stored.size == 0) short
      else stored.get(key(level, number))
    if (bytes != null) summaries.read(target, new ByteReader(bytes))
    bytes != null
  }

  private def store(level: Int, number: Long, summary: S): Unit =
    if (isStable || isLong && level >= StoredLevel) {
      writer.clear()
      summaries.write(summary, writer)
      val bytes = writer.toArray
      if (bytes.length <= FrontSummary.MaxShort) values.put(level, number, bytes)
      else if (isLong && level >= StoredLevel) {
        val _ = stored.put(key(level, number), bytes)
      }
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
    store(level, number, target)
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

  /** The lowest level that is stored for each long window. The blocks of the levels below are
    * stored if their summaries are short and most rows stay.
    */
  val StoredLevel = 2

  /** A limit above the number of rows that any machine can hold. */
  val MaxRows: Long = 1L << 40

  /** Number of blocks of a level in one block of the level above. */
  def fanOut(level: Int): Int = if (level == 1) FrontSummary.BlocksInRun else 16

  /** Number of blocks of a level in memory, enough for those that a sliding window needs again. A
    * window of some 4,000 rows needs blocks of level 1 again when they are the oldest.
    */
  def slots(level: Int): Int = if (level == 1) 64 else 32

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
