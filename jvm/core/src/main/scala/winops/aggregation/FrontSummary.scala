package winops.aggregation

import winops.storage.btree.PagedMap
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
  * If a sum of some of the rows overflows its type, all rows are folded oldest to newest.
  *
  * @param stored
  *   the summaries of blocks of long windows, by level and number
  */
final class FrontSummary[S](summaries: Summaries[S], stored: PagedMap) extends WindowSummary[S] {
  import FrontSummary._

  /** The window holds the rows from `head` until `tail`. */
  private var head = 0L
  private var tail = 0L

  /** Summaries of suffixes of the block that ends at `suffixesEnd`, from some row at or before
    * `head` on.
    */
  private val suffixes = new Array[Any](BlockRows.toInt).asInstanceOf[Array[S]]
  private var suffixesEnd = RowFold.None

  private val blocks = new BlockSummaries[S](summaries, stored)

  /** Summary of the rows of a short window, or of the newest block. */
  private val fold = new RowFold[S](summaries)

  /** Summary of the rows from `oldestFrom` until `oldestUntil`, where the newest block begins. */
  private val oldest = summaries.create()
  private var oldestFrom = RowFold.None
  private var oldestUntil = RowFold.None

  private val joined = summaries.create()
  private var forgottenBefore = 0L

  override def insert(from: Long, until: Long): Unit = {
    if (from < tail) {
      // The group was removed, and its rows are numbered from 0 again.
      forgetAll()
      head = from
    }
    // The rows in between never entered the window, and all older rows leave in this step.
    if (from > tail) head = Math.max(head, from)
    tail = until
  }

  override def remove(from: Long, until: Long): Unit = head = Math.max(head, until)

  override def isEmpty: Boolean = head >= tail

  override def total: S =
    if (tail - head <= WindowSummary.FoldedRows) fold.of(head, Math.max(head, tail))
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
    head = 0L
    tail = 0L
  }

  override def settle(): Unit = blocks.forgetBefore(head)

  override def save(out: ByteWriter): Unit = {
    out.number(head)
    out.number(tail)
    stored.save(out)
  }

  override def restore(in: ByteReader): Unit = {
    forgetComputed()
    head = in.count(Long.MaxValue)
    tail = in.count(Long.MaxValue)
    if (tail - head > BlockSummaries.MaxRows) {
      throw new CorruptStateException(s"a window is from row $head to $tail")
    }
    forgottenBefore = head
    stored.restore(in)
  }

  private def forgetAll(): Unit = {
    forgetComputed()
    forgottenBefore = 0L
    stored.clear()
  }

  private def forgetComputed(): Unit = {
    suffixesEnd = RowFold.None
    oldestFrom = RowFold.None
    fold.clear()
    blocks.clear()
  }

  /** Computes the summary of a window that spans several blocks. */
  private def join(): Unit = {
    val wholeFrom = startOfBlock(head) + BlockRows
    val newestFrom = startOfBlock(tail - 1)
    if (fold.from != newestFrom) keepFolded(wholeFrom)
    val front =
      if (wholeFrom == newestFrom) suffixFrom(head) else oldestUntilBlock(wholeFrom, newestFrom)
    summaries.join(joined, front, fold.of(newestFrom, tail))
  }

  /** The summary of all rows before the newest block. */
  private def oldestUntilBlock(wholeFrom: Long, newestFrom: Long): S = {
    if (oldestFrom != head || oldestUntil != newestFrom) {
      oldestFrom = RowFold.None
      summaries.join(oldest, suffixFrom(head), wholeBlocks(wholeFrom, newestFrom))
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
    val isLong = tail - head > RowLog.MaxInlineRows
    if (isLong && head - forgottenBefore > RowsBetweenForgetting) {
      blocks.forgetBefore(head)
      forgottenBefore = head
    }
    blocks.between(from, until, isLong)
  }

  private def suffixFrom(row: Long): S = {
    val start = startOfBlock(row)
    if (suffixesEnd != start + BlockRows) {
      suffixesEnd = RowFold.None
      var index = BlockRows.toInt - 1
      while (start + index >= row) {
        if (suffixes(index) == null) suffixes(index) = summaries.create()
        if (index + 1 < BlockRows) {
          summaries.prepend(suffixes(index), start + index, suffixes(index + 1))
        } else {
          summaries.clear(suffixes(index))
          summaries.add(suffixes(index), start + index)
        }
        index -= 1
      }
      suffixesEnd = start + BlockRows
    }
    suffixes((row - start).toInt)
  }
}

private object FrontSummary {
  val BlockRows: Long = WindowSummary.FoldedRows.toLong

  /** Number of blocks in a segment of the log, so that a block of level 2 is one segment. */
  val BlocksInSegment: Int = RowLog.SegmentRows / WindowSummary.FoldedRows

  /** Number of rows that leave before their stored blocks are removed. */
  val RowsBetweenForgetting: Long = 32L * RowLog.SegmentRows

  def startOfBlock(row: Long): Long = row - row % BlockRows
}
