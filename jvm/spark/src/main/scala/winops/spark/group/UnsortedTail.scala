package winops.spark.group

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.window.time.Clock

/** The newest rows of a [[WaitingLog]], which wait in the order of their arrival.
  *
  * They arrived after the rows of all sequences, but for one that is being appended. Some rows in
  * their range have been released: those before the millisecond of the earliest time of all rows
  * that wait.
  *
  * @param rows
  *   the rows of the log
  * @param schedule
  *   the rows that are released next, if it is worth its bytes
  */
private[group] final class UnsortedTail(rows: TimedRows, val schedule: ReleaseSchedule) {
  import UnsortedTail._
  import WaitingRows.Never

  private var fromOrdinal = 0L
  private var endOrdinal = 0L
  private var waiting = 0L
  private var earliest = Never

  // The newest rows that are in order, and the first time of those before them.
  private var blockFrom = 0L
  private var earliestBeforeBlock = Never

  /** The number of rows that wait. */
  def size: Long = waiting

  def isEmpty: Boolean = waiting == 0

  /** True if there are rows that wait, and released rows in their range. */
  def hasReleased: Boolean = !isEmpty && waiting < endOrdinal - fromOrdinal

  /** The ordinal of the first row, or one before it. */
  def from: Long = fromOrdinal

  /** The ordinal behind the last row. */
  def end: Long = endOrdinal

  /** The earliest time of a waiting row in microseconds, or the beginning of its millisecond;
    * [[WaitingRows.Never]] if there is none.
    */
  def firstTime: Long = earliest

  /** Starts with a group without unsorted rows. */
  def begin(): Unit = {
    schedule.begin()
    place(rows.end, rows.end, 0L, Never)
  }

  /** Removes the rows; those that are appended next follow the rows of the log. */
  def clear(): Unit = {
    schedule.remove()
    place(rows.end, rows.end, 0L, Never)
  }

  /** Replaces the rows by `count` rows in a range of the log, of which the schedule stays true.
    */
  def place(from: Long, until: Long, count: Long, firstTime: Long): Unit = {
    fromOrdinal = from
    endOrdinal = until
    waiting = count
    earliest = firstTime
    closeBlock()
  }

  /** Ends the newest rows that are in order. Rows that are appended from here on arrived later.
    */
  def closeBlock(): Unit = {
    blockFrom = rows.end
    earliestBeforeBlock = earliest
  }

  /** Adds a row to the log; `order` is the order in which rows are released. */
  def append(added: UnsafeRow, order: Ordering[InternalRow]): Unit = {
    if (isEmpty) clear()
    if (blockSize == 0 || !rows.endBefore(added, order)) closeBlock()
    rows.append(added)
    waiting += 1
    endOrdinal = rows.end
    earliest = Math.min(earliest, rows.timeIn(added))
    schedule.appended(Clock.floorToMillis(rows.timeIn(added)))
  }

  /** Removes `count` rows from those that wait. */
  def take(count: Int, firstTime: Long): Unit =
    place(fromOrdinal, endOrdinal, waiting - count, firstTime)

  /** The number of the newest rows that are in order. */
  def blockSize: Long = rows.end - blockFrom

  /** Removes the newest rows that are in order, and returns them as a sequence. */
  def takeBlock(): RowSequence = {
    // Rows of the block may be the later ones of the schedule.
    schedule.remove()
    val block = new RowSequence(blockFrom, rows.end, rows.timeAt(blockFrom))
    waiting -= block.size
    endOrdinal = blockFrom
    earliest = earliestBeforeBlock
    block
  }

  /** The ordinals of the rows that wait.
    *
    * @param since
    *   the earliest time of all rows of the log that wait
    */
  def ordinals(since: Long): Iterator[Long] = ordinals(fromOrdinal, endOrdinal, since)

  /** The [[ordinals]] from one on until another. */
  def ordinals(from: Long, until: Long, since: Long): Iterator[Long] =
    if (isEmpty) Iterator.empty
    else {
      range(Math.max(from, fromOrdinal), Math.min(until, endOrdinal))
        .filter(rows.timeAt(_) >= since)
    }

  /** Copies of the rows that wait, in the order of their release.
    *
    * @param since
    *   the earliest time of all rows of the log that wait
    */
  def sortedRows(since: Long, order: Ordering[InternalRow]): Array[UnsafeRow] = {
    val copies = mutable.ArrayBuffer.empty[UnsafeRow]
    ordinals(since).foreach(copies += rows.at(_).copy())
    sorted(copies, order)
  }
}

private[group] object UnsortedTail {

  /** The ordinals from one on until another. */
  def range(from: Long, until: Long): Iterator[Long] =
    Iterator.iterate(from)(_ + 1).takeWhile(_ < until)

  /** Sorts rows. The sort is stable, so equal rows stay in the order of their arrival. */
  def sorted(
      rows: mutable.ArrayBuffer[UnsafeRow],
      order: Ordering[InternalRow]): Array[UnsafeRow] = {
    val all = rows.toArray
    java.util.Arrays.sort(all, order)
    all
  }
}
