package winops.spark.group

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.storage.bytes.CorruptStateException
import winops.window.time.Clock

/** Releases rows of an unsorted tail of which its schedule has the places. Reads only these, and
  * the rows that arrived after the schedule was made, if one of them may precede the next row of
  * the schedule.
  *
  * @param rows
  *   the rows of the log
  * @param since
  *   the earliest time of all rows of the log that wait
  * @param before
  *   the time in microseconds before which rows are released, a whole millisecond that the
  *   schedule covers
  */
private[group] final class ScheduledRows(
    rows: TimedRows,
    tail: UnsortedTail,
    since: Long,
    before: Long,
    order: Ordering[InternalRow])
    extends SortedRows {
  private val schedule = tail.schedule
  if (schedule.end <= tail.from || schedule.end > tail.end) {
    throw new CorruptStateException(s"a schedule until ${schedule.end} of ${tail.end} rows")
  }
  private val beforeMillis = Clock.floorToMillis(before)
  private val readsLater = schedule.mayLaterPrecede(beforeMillis)

  /** The earliest time in milliseconds of the later rows that stay, if they are read. */
  private var laterFirst = Long.MaxValue
  override protected val due: Array[UnsafeRow] = collect()

  override def finish(): Unit = {
    if (readsLater) schedule.laterFrom(laterFirst)
    val first = Math.min(schedule.next(beforeMillis), laterFirst)
    tail.take(due.length, first * Clock.MicrosPerMilli)
  }

  private def collect(): Array[UnsafeRow] = {
    val found = mutable.ArrayBuffer.empty[UnsafeRow]
    val scheduled = schedule.between(Clock.floorToMillis(since), beforeMillis)
    // Equal rows are released in the order of their arrival.
    val read = scheduled.map(_.from).distinct.sorted.flatMap { from =>
      val until = Math.min(from + ScheduledRow.BlockRows, schedule.end)
      tail.ordinals(from, until, since).flatMap(readAt(_, found))
    }
    if (!read.distinct.sorted.sameElements(scheduled)) {
      throw new CorruptStateException("the rows of a schedule have other times")
    }
    if (readsLater) {
      tail.ordinals(schedule.end, tail.end, since).foreach(readAt(_, found))
    }
    UnsortedTail.sorted(found, order)
  }

  /** Adds a row to those that are due, if it is. */
  private def readAt(
      ordinal: Long,
      found: mutable.ArrayBuffer[UnsafeRow]): Option[ScheduledRow] = {
    val row = rows.at(ordinal)
    val time = rows.timeIn(row)
    val millis = Clock.floorToMillis(time)
    val isDue = time < before
    if (isDue) found += row.copy()
    else if (ordinal >= schedule.end) laterFirst = Math.min(laterFirst, millis)
    Option.when(isDue)(ScheduledRow.of(millis, ordinal))
  }
}
