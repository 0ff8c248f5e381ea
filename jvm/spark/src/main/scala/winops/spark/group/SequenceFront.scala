package winops.spark.group

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Releases the first rows of a sequence. Some of them are on the heap, as reading a row may read
  * a run of rows.
  *
  * @param rows
  *   the rows of the log
  * @param before
  *   the time in microseconds before which rows are released
  */
private[group] final class SequenceFront(rows: TimedRows, sequence: RowSequence, before: Long)
    extends WaitingRows {
  import SequenceFront._

  private val read = new Array[UnsafeRow](Math.min(MostRows, sequence.size).toInt)
  private var inRead = 0
  private var at = 0
  private var next = sequence.head
  private var nextTime = sequence.next
  readMore()

  override def first: UnsafeRow = if (at < inRead) read(at) else null

  override def take(): Unit = {
    at += 1
    if (at == inRead) readMore()
  }

  override def finish(): Unit = {
    sequence.head = next
    sequence.next = nextTime
  }

  private def readMore(): Unit = {
    at = 0
    inRead = 0
    var bytes = 0L
    var more = true
    while (more && inRead < read.length && next < sequence.end && bytes < MostBytes) {
      val row = rows.at(next)
      nextTime = rows.timeIn(row)
      more = WaitingRows.isDue(nextTime, before)
      if (more) {
        read(inRead) = row.copy()
        bytes += read(inRead).getSizeInBytes
        inRead += 1
        next += 1
      }
    }
  }
}

private object SequenceFront {

  /** The number of rows on the heap, and their bytes but for those of one row. */
  val MostRows: Long = TimedRows.LongestRun.toLong
  val MostBytes = 32768L
}
