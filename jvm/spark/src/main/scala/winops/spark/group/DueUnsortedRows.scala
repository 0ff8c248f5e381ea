package winops.spark.group

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Releases rows of an unsorted tail.
  *
  * @param rows
  *   the rows of the log
  * @param since
  *   the earliest time of all rows of the log that wait
  * @param before
  *   the time in microseconds before which rows are released
  */
private[group] final class DueUnsortedRows(
    rows: TimedRows,
    tail: UnsortedTail,
    since: Long,
    before: Long,
    order: Ordering[InternalRow])
    extends WaitingRows {
  import WaitingRows.{isDue, Never}

  private var firstStaying = Never
  private var firstOrdinal = tail.end
  private var staying = 0L
  private val isRead = isDue(tail.firstTime, before)
  private val due = if (isRead) collect() else Array.empty[UnsafeRow]
  private var taken = 0

  override def first: UnsafeRow = if (taken == due.length) null else due(taken)
  override def take(): Unit = taken += 1

  override def finish(): Unit = if (isRead) {
    if (staying == 0) tail.clear()
    else tail.place(firstOrdinal, tail.end, staying, firstStaying)
  }

  private def collect(): Array[UnsafeRow] = {
    val found = mutable.ArrayBuffer.empty[UnsafeRow]
    tail.ordinals(since).foreach { ordinal =>
      val row = rows.at(ordinal)
      val time = rows.timeIn(row)
      if (isDue(time, before)) found += row.copy()
      else {
        staying += 1
        firstStaying = Math.min(firstStaying, time)
        firstOrdinal = Math.min(firstOrdinal, ordinal)
      }
    }
    UnsortedTail.sorted(found, order)
  }
}
