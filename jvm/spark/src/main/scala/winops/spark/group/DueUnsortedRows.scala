package winops.spark.group

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.window.time.Clock

/** Releases rows of an unsorted tail, all of which it reads. Makes a new schedule of those that
  * stay, if it will save reading as many rows again for few that are due.
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
    extends SortedRows {
  import DueUnsortedRows._
  import ReleaseSchedule.MostRows
  import WaitingRows.{isDue, Never}

  private var firstStaying = Never
  private var firstOrdinal = tail.end
  private val staying = mutable.ArrayBuffer.empty[ScheduledRow]
  override protected val due: Array[UnsafeRow] = collect()

  override def finish(): Unit =
    if (staying.isEmpty) tail.clear()
    else {
      tail.place(firstOrdinal, tail.end, staying.length.toLong, firstStaying)
      val isWorthIt = tail.end - tail.from >= LeastLeft && due.length <= MostDue
      if (isWorthIt && staying.length > MostRows) {
        tail.schedule.replace(staying.toArray.sorted.distinct.take(MostRows), tail.end)
      } else tail.schedule.remove()
    }

  private def collect(): Array[UnsafeRow] = {
    val found = mutable.ArrayBuffer.empty[UnsafeRow]
    tail.ordinals(since).foreach { ordinal =>
      val row = rows.at(ordinal)
      val time = rows.timeIn(row)
      if (isDue(time, before)) found += row.copy()
      else {
        firstStaying = Math.min(firstStaying, time)
        firstOrdinal = Math.min(firstOrdinal, ordinal)
        staying += ScheduledRow.of(Clock.floorToMillis(time), ordinal)
      }
    }
    UnsortedTail.sorted(found, order)
  }
}

private object DueUnsortedRows {
  import ReleaseSchedule.MostRows

  /** If a release leaves at least so many unsorted rows in the log, waiting or released, and at
    * most so many were due, the rows of a schedule cost fewer bytes than reading all again.
    */
  val LeastLeft: Long = 2L * MostRows
  val MostDue: Int = MostRows / 4
}
