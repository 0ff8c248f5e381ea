package winops.spark.group

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.spark.row.Micros
import winops.spark.state.{HistoryTimes, StoredPartitionState}
import winops.window.time.Clock

/** The times of one micro-batch, or of a batch query.
  *
  * @param lateBefore
  *   rows with an earlier time are late, in microseconds
  * @param releaseBefore
  *   rows with an earlier time no longer wait, in microseconds
  * @param now
  *   the time to which the clock of every group advances at the end of the batch, in milliseconds
  * @param stamp
  *   arrival time of the rows of a stream without a time column; `None` with a time column and on
  *   a table, which has no clock
  * @param flushes
  *   whether the input has ended, so that waiting rows are to be applied
  * @param passedAtEnd
  *   the time behind the watermark up to which all rows are there at the end of the input, in
  *   microseconds
  * @param history
  *   the table that the first micro-batch began with, while its times matter
  */
final case class BatchTimes(
    lateBefore: Long,
    releaseBefore: Long,
    now: Long,
    stamp: Option[Long],
    flushes: Boolean = false,
    passedAtEnd: Long = BatchTimes.OneMilli,
    history: Option[HistoryTimes] = None) {
  private val arrival = stamp.getOrElse(0L)

  /** The time of a row in milliseconds: that of its column or, without one, its arrival time; 0
    * on a table without a time column.
    *
    * @param timeOrdinal
    *   the ordinal of the time column; negative if there is none
    */
  def timeOf(row: UnsafeRow, timeOrdinal: Int): Long =
    if (timeOrdinal < 0) arrival else Clock.floorToMillis(row.getLong(timeOrdinal))

  /** The times at the end of the input. The watermark moves to the last row, which is applied
    * too, and time stops there, as on a table.
    */
  def atEnd: BatchTimes = copy(
    releaseBefore = if (now == Long.MinValue) releaseBefore else endOfFlush(now),
    flushes = true)

  /** The times for a partition in which earlier micro-batches have flushed rows or read a table.
    */
  def in(partition: StoredPartitionState): BatchTimes = {
    val flushed = partition.flushed.fold(this)(afterFlush)
    partition.history.fold(flushed)(flushed.afterHistory(_, partition.timePassed))
  }

  /** The times after a flush at the watermark `flushed`. */
  def afterFlush(flushed: Long): BatchTimes =
    copy(lateBefore = Math.max(lateBefore, endOfFlush(flushed)))

  /** The times after a first micro-batch with a table, in which time had passed up to `passed`.
    * Spark's watermark for late rows does not know of it.
    */
  def afterHistory(table: HistoryTimes, passed: Long): BatchTimes = copy(
    lateBefore = if (passed > 0) Math.max(lateBefore, Micros.of(passed)) else lateBefore,
    history = Some(table))

  private def endOfFlush(watermark: Long): Long = Micros.of(watermark) + passedAtEnd
}

object BatchTimes {

  /** At the end of an input, its rows have come up to the end of the last millisecond. */
  val OneMilli = 1000L

  /** Spark's aggregations have emitted the times up to their watermark, and may have others
    * within the same millisecond.
    */
  val OneMicro = 1L

  /** The times of a stream without a time column: the batch timestamp of the offset log. */
  def ofBatch(timestamp: Long): BatchTimes =
    BatchTimes(Long.MinValue, Long.MaxValue, timestamp, Some(timestamp))

  /** The times of a stream with a time column. Spark's watermarks begin with 0, which stands for
    * none.
    *
    * @param late
    *   Spark's watermark for late rows, which the previous micro-batch had
    * @param now
    *   Spark's watermark for eviction, which this micro-batch has
    */
  def ofWatermarks(late: Long, now: Long, passedAtEnd: Long = OneMilli): BatchTimes =
    BatchTimes(
      Micros.of(orNone(late)),
      Micros.of(orNone(now)),
      orNone(now),
      None,
      passedAtEnd = passedAtEnd)

  /** The times of a table. Time stops at `end`, the greatest time of its rows, if it has one. */
  def ofTable(end: Option[Long]): BatchTimes =
    BatchTimes(Long.MinValue, Long.MaxValue, end.getOrElse(Long.MinValue), None)

  private def orNone(watermark: Long): Long = if (watermark <= 0) Long.MinValue else watermark
}
