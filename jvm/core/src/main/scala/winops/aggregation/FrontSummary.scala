package winops.aggregation

import winops.log.{ByteReader, ByteWriter, CorruptStateException, PagedMap, RowLog}

/** The summary of a window whose rows leave in the order in which they came, at a cost for each
  * row that does not depend on how many there are.
  *
  * It is the queue of two stacks: of the rows in the front part there is a summary of each
  * suffix, of the rows behind there is one that grows. When the front part is used up, the next
  * one is made of the rows that are then oldest. In a long window that is one block of rows, and
  * the rows behind it are put together out of the summaries of whole blocks, and of blocks of
  * blocks. Only these are stored; they are made when they are asked for first.
  *
  * @param stored
  *   the summaries of blocks, by their level and number
  */
final class FrontSummary[S](summaries: Summaries[S], stored: PagedMap) extends WindowSummary[S] {
  import FrontSummary._

  /** The window is the rows from `head` until `tail`. */
  private var head = 0L
  private var tail = 0L

  /** Of the rows from `frontStart` until `frontEnd` there are suffixes; those from there until
    * `backEnd` are in `back`.
    */
  private var isBuilt = false
  private var frontStart = 0L
  private var frontEnd = 0L
  private var backEnd = 0L
  private val suffixes = new Array[Any](MaxFrontRows).asInstanceOf[Array[S]]
  private val back = summaries.create()

  private val joined = summaries.create()
  private val blocks = new BlockSummaries[S](summaries, stored)

  override def insert(from: Long, until: Long): Unit = {
    // What lies between was never in the window, and all that lies before leaves with this step.
    if (from > tail) head = Math.max(head, from)
    tail = until
  }

  override def remove(from: Long, until: Long): Unit = head = Math.max(head, until)

  override def isEmpty: Boolean = head >= tail

  override def total: S = {
    if (!isBuilt || head > frontEnd) rebuild()
    addUntil(tail)
    if (head == frontEnd) back
    else if (backEnd == frontEnd) suffixes((head - frontStart).toInt)
    else {
      summaries.join(joined, suffixes((head - frontStart).toInt), back)
      joined
    }
  }

  override def foreach(visit: Long => Unit): Unit = {
    var row = head
    while (row < tail) {
      visit(row)
      row += 1
    }
  }

  override def clear(): Unit = {
    isBuilt = false
    blocks.clear()
    head = 0L
    tail = 0L
    stored.clear()
  }

  override def settle(): Unit = blocks.forgetBefore(head)

  override def save(out: ByteWriter): Unit = {
    out.number(head)
    out.number(tail)
    stored.save(out)
  }

  override def restore(in: ByteReader): Unit = {
    isBuilt = false
    blocks.clear()
    head = in.count(Long.MaxValue)
    tail = in.count(Long.MaxValue)
    if (tail - head > BlockSummaries.MaxRows) {
      throw new CorruptStateException(s"a window is from row $head to $tail")
    }
    stored.restore(in)
  }

  private def addUntil(end: Long): Unit = while (backEnd < end) {
    summaries.add(back, backEnd)
    backEnd += 1
  }

  private def rebuild(): Unit = {
    isBuilt = true
    summaries.clear(back)
    frontStart = head
    frontEnd = if (tail - head <= MaxFrontRows) tail else (head / BlockRows + 1) * BlockRows
    buildSuffixes()
    backEnd = frontEnd
    if (frontEnd < tail) {
      blocks.forgetBefore(head)
      backEnd = blocks.append(back, frontEnd, tail)
    }
  }

  private def buildSuffixes(): Unit = {
    var row = frontEnd - 1
    while (row >= frontStart) {
      val index = (row - frontStart).toInt
      if (suffixes(index) == null) suffixes(index) = summaries.create()
      if (row + 1 < frontEnd) summaries.prepend(suffixes(index), row, suffixes(index + 1))
      else {
        summaries.clear(suffixes(index))
        summaries.add(suffixes(index), row)
      }
      row -= 1
    }
  }
}

private object FrontSummary {

  /** A block is what a segment of the log is, so that one is read for the other. */
  val BlockRows: Long = RowLog.SegmentRows.toLong

  /** A window of as many rows is all front part: its rows are read with its group anyway. */
  val MaxFrontRows: Int = RowLog.MaxInlineRows
}
