package winops.aggregation

import winops.storage.btree.Pages
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}
import winops.storage.rows.RowLog

/** Summarizes a window whose rows leave in the order of their insertion. The cost of a row does
  * not depend on the number of rows.
  *
  * The numbers of the first and the last row alone determine the order of addition, so sums of
  * floating-point numbers are the same to the bit whatever came before. Up to
  * [[WindowSummary.FoldedRows]] rows are folded oldest to newest. More rows are divided at the
  * multiples of [[FrontSummary.BlockRows]]:
  *
  *   - the rows of the oldest block, folded newest to oldest, with a summary for each suffix;
  *   - the whole blocks behind it, merged by [[BlockSummaries]];
  *   - the rows of the newest block, folded oldest to newest.
  *
  * If a sum of some of the rows overflows its type, or may overflow it by [[Summaries.weight]],
  * all rows are folded oldest to newest.
  *
  * The summaries are stored so that a micro-batch with few rows of the group reads no rows of a
  * longer window, but for the suffixes of a block from time to time: the summary of the newest
  * block and that of all whole blocks with the group's value, those of single blocks and of
  * suffixes in entries. A summary that is long, or that changes when it is read, is computed
  * again from up to 256 rows instead.
  *
  * @param pages
  *   stores the summaries of blocks and suffixes
  */
final class FrontSummary[S](summaries: Summaries[S], pages: Pages) extends WindowSummary[S] {
  import FrontSummary._

  /** The window holds the rows from `head` until `tail`. */
  private var head = 0L
  private var tail = 0L

  /** The window at the beginning of the micro-batch. */
  private var headBefore = 0L
  private var tailBefore = 0L

  /** True if the stored form of a summary equals the summary. */
  private val isStorable = !summaries.changesWhenRead

  private val values = pages.newValues()
  private val longBlocks = pages.newMap()
  private val suffixes = new SuffixSummaries[S](summaries, values)
  private val blocks = new BlockSummaries[S](summaries, values, longBlocks)
  private val writer = new ByteWriter

  /** Summary of the rows of a short window, or of the newest block. */
  private val fold = new RowFold[S](summaries)

  /** Summary of the rows from `oldestFrom` until `oldestUntil`, where the newest block begins. */
  private val oldest = summaries.create()
  private var oldestFrom = RowFold.None
  private var oldestUntil = RowFold.None

  private val joined = summaries.create()
  private var forgottenBefore = 0L

  /** Weight of the rows until `weighedUntil`. */
  private val weight = new WindowWeight
  private var weighedUntil = 0L

  override def insert(from: Long, until: Long): Unit = {
    if (from < tail) {
      // The group was removed, and its rows are numbered from 0 again.
      forgetAll()
      startWith(from, from)
    }
    // The rows in between never entered the window, and all older rows leave in this step.
    if (from > tail) head = Math.max(head, from)
    tail = until
  }

  override def remove(from: Long, until: Long): Unit = head = Math.max(head, until)

  override def isEmpty: Boolean = head >= tail

  override def total: S =
    if (!isBlocked) fold.of(head, Math.max(head, tail))
    else if (!isMergeable) fold.of(head, tail)
    else {
      val isSummed =
        try {
          join()
          !summaries.isOverflowed(joined)
        } catch {
          case _: ArithmeticException =>
            forgetComputed()
            false
        }
      if (isSummed) joined else fold.of(head, tail)
    }

  override def foreach(visit: Long => Unit): Unit = {
    var row = head
    while (row < tail) {
      visit(row)
      row += 1
    }
  }

  override def clear(): Unit = {
    forgetAll()
    startWith(0L, 0L)
  }

  override def settle(): Unit = {
    if (isBlocked) weigh()
    blocks.forgetBefore(head)
    if (isStorable && isBlocked && isSlow) suffixes.store(head) else suffixes.removeStored()
  }

  override def save(out: ByteWriter): Unit = {
    val level = values.highestLevel
    val ofNewest =
      if (isBlocked || head == headBefore) stored(fold.known(foldedFrom, tail)) else null
    val ofWhole = if (isSlow) stored(blocks.known(wholeFrom, newestFrom)) else null
    val parts =
      (if (ofNewest != null) HasNewest else 0) | (if (ofWhole != null) HasWhole else 0) |
        (if (level >= 0) HasValues else 0) | (if (longBlocks.size > 0) HasLongBlocks else 0)
    out.number(head)
    val rows = (tail - head) << BitsOfParts | parts.toLong
    val hasWeight = isBlocked && summaries.areWeighed && weight.isStored(tail - head)
    out.number(if (hasWeight) -1 - rows else rows)
    if (hasWeight) weight.save(out)
    // A damaged length must not lead to endless entries that are to be removed.
    if (tail - head > ManyRows) out.number(tail - head)
    if (level >= 0) out.number(suffixes.storedFrom(head) << BitsOfLevel | level.toLong)
    if (ofNewest != null) out.packed(ofNewest)
    if (ofWhole != null) out.packed(ofWhole)
    if (longBlocks.size > 0) longBlocks.save(out)
  }

  override def restore(in: ByteReader): Unit = {
    forgetComputed()
    val first = in.count(Long.MaxValue)
    val number = in.number()
    val rows = if (number < 0) -1 - number else number
    val size = rows >> BitsOfParts
    startWith(first, first + size)
    if (number < 0) {
      weight.restore(in)
      weighedUntil = tail
    } else if (isBlocked) {
      weight.assumeLight(size)
      weighedUntil = tail
    }
    if (size > ManyRows && in.number() != size) {
      throw new CorruptStateException(s"a window has $size rows, or another number")
    }
    if ((rows & HasValues) != 0) {
      val levels = in.count(MaxLevels)
      blocks.expect((levels & LevelMask).toInt, head, tail)
      suffixes.startWith(head, head + (levels >> BitsOfLevel))
    }
    if ((rows & HasNewest) != 0) fold.resume(foldedFrom, tail, read(in, _))
    if ((rows & HasWhole) != 0) blocks.resume(wholeFrom, newestFrom, read(in, _))
    if ((rows & HasLongBlocks) != 0) longBlocks.restore(in)
  }

  private def startWith(head: Long, tail: Long): Unit = {
    if (head < 0 || tail < head || tail - head > BlockSummaries.MaxRows) {
      throw new CorruptStateException(s"a window is from row $head to $tail")
    }
    this.head = head
    this.tail = tail
    headBefore = head
    tailBefore = tail
    weight.clear()
    weighedUntil = head
    forgottenBefore = head
    suffixes.startWith(head, head)
  }

  /** The stored form of a summary, or null if it is not stored. */
  private def stored(summary: S): Array[Byte] =
    if (summary == null || !isStorable || head >= tail) null
    else {
      writer.clear()
      summaries.write(summary, writer)
      val bytes = writer.toArray
      if (bytes.length <= MaxShort) bytes else null
    }

  private def read(in: ByteReader, target: S): Unit =
    summaries.read(target, new ByteReader(in.packed()))

  /** True if the window is divided into blocks. */
  private def isBlocked: Boolean = tail - head > WindowSummary.FoldedRows

  /** True if this micro-batch changes few rows, so that stored parts serve the next one too. */
  private def isSlow: Boolean = tail - tailBefore <= FewRows && head - headBefore <= FewRows

  /** Returns true if no part of the rows can overflow. */
  private def isMergeable: Boolean = !summaries.areWeighed || {
    weigh()
    weight.isLight(tail - head) || {
      weight.clear()
      weighedUntil = head
      weigh()
      weight.areMergeable
    }
  }

  /** Weighs the rows that were not weighed before. */
  private def weigh(): Unit = if (summaries.areWeighed) {
    var row = Math.max(weighedUntil, head)
    while (row < tail) {
      weight.add(summaries.weight(row))
      row += 1
    }
    weighedUntil = tail
  }

  /** The first row of the first whole block. */
  private def wholeFrom: Long = startOfBlock(head) + BlockRows

  /** The first row of the newest block. */
  private def newestFrom: Long = startOfBlock(tail - 1)

  /** The first row that is folded oldest to newest. */
  private def foldedFrom: Long = if (isBlocked) newestFrom else head

  private def forgetAll(): Unit = {
    forgetComputed()
    values.clear()
    longBlocks.clear()
  }

  private def forgetComputed(): Unit = {
    oldestFrom = RowFold.None
    suffixes.clear()
    fold.clear()
    blocks.clear()
  }

  /** Computes the summary of a window that spans several blocks. */
  private def join(): Unit = {
    val whole = wholeFrom
    val newest = newestFrom
    blocks.storeFor(
      isLong = tail - head > RowLog.MaxInlineRows,
      isStable = isStorable && tail - head > 2 * (tail - tailBefore))
    if (fold.from != newest) keepFolded(whole)
    val front =
      if (whole == newest) suffixes.from(head) else oldestUntilBlock(whole, newest)
    summaries.join(joined, front, fold.of(newest, tail))
  }

  /** The summary of all rows before the newest block. */
  private def oldestUntilBlock(wholeFrom: Long, newestFrom: Long): S = {
    if (oldestFrom != head || oldestUntil != newestFrom) {
      oldestFrom = RowFold.None
      summaries.join(oldest, suffixes.from(head), wholeBlocks(wholeFrom, newestFrom))
      oldestFrom = head
      oldestUntil = newestFrom
    }
    oldest
  }

  /** Stores the summary of the block that was the newest until now, to avoid folding it again. */
  private def keepFolded(wholeFrom: Long): Unit = {
    val from = fold.from
    if (from >= wholeFrom && from == startOfBlock(from) && fold.until <= from + BlockRows &&
      !summaries.changesWhenRead) {
      val _ = fold.of(from, from + BlockRows)
      fold.giveAway(blocks.exchange(from / BlockRows, _))
    }
  }

  private def wholeBlocks(from: Long, until: Long): S = {
    if (head - forgottenBefore > RowsBetweenForgetting) {
      blocks.forgetBefore(head)
      forgottenBefore = head
    }
    blocks.between(from, until)
  }
}

private object FrontSummary {
  val BlockRows: Long = WindowSummary.FoldedRows.toLong

  /** Number of blocks of level 1 in one of level 2, which has the rows of a longest run. */
  val BlocksInRun: Int = RowLog.LongestRun / WindowSummary.FoldedRows

  /** Number of rows that leave before their stored blocks are removed. */
  val RowsBetweenForgetting: Long = 32L * RowLog.LongestRun

  /** Maximum length of a summary that is stored for a few rows, in bytes. */
  val MaxShort = 256

  /** Maximum number of rows that enter and leave in a micro-batch of few rows. */
  val FewRows = 4L

  /** A length that damaged state must repeat. */
  val ManyRows: Long = 1L << 19

  // The parts that follow the numbers of the rows.
  val HasNewest = 1
  val HasWhole = 2
  val HasValues = 4
  val HasLongBlocks = 8
  val BitsOfParts = 4

  val BitsOfLevel = 4
  val LevelMask: Long = (1L << BitsOfLevel) - 1
  val MaxLevels: Long = SuffixSummaries.Stored.toLong << BitsOfLevel | LevelMask

  def startOfBlock(row: Long): Long = row - row % BlockRows
}
