package winops.spark.group

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Releases rows from the front of a log that is one sequence.
  *
  * @param rows
  *   the rows of the log
  * @param before
  *   the time in microseconds before which rows are released
  */
private[group] final class RowsInOrder(rows: TimedRows, sequence: RowSequence, before: Long)
    extends WaitingRows {
  private var taken = rows.first

  override def first: UnsafeRow =
    if (taken == rows.end) null
    else {
      val row = rows.at(taken)
      if (WaitingRows.isDue(rows.timeIn(row), before)) row else null
    }

  override def take(): Unit = taken += 1

  override def finish(): Unit = {
    rows.release(taken)
    sequence.head = taken
    if (sequence.size > 0) sequence.next = rows.timeAt(taken)
  }
}
