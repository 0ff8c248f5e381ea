package winops.spark.group

/** How far time has come for one batch of a stream, or for a table; all in milliseconds.
  *
  * @param lateBefore
  *   rows of an earlier time come too late
  * @param releaseBefore
  *   rows of an earlier time need no longer wait
  * @param now
  *   the instant to which time passes for every group at the end of the batch
  * @param stamp
  *   when rows arrive that have no time column; none on a table, where nothing says when
  * @param flushes
  *   whether the input has ended and the rows that wait are to be applied
  */
final case class BatchClock(
    lateBefore: Long,
    releaseBefore: Long,
    now: Long,
    stamp: Option[Long],
    flushes: Boolean = false)

object BatchClock {

  /** A stream without a time column: time is the batch timestamp of the offset log. */
  def ofBatch(timestamp: Long): BatchClock =
    BatchClock(Long.MinValue, Long.MaxValue, timestamp, Some(timestamp))

  /** A stream with a time column: time is what the watermarks say, the one that the batch before
    * ended with and the one that this batch ends with. Spark's watermarks begin with 0, for none.
    */
  def ofWatermarks(late: Long, now: Long): BatchClock =
    BatchClock(orNone(late), orNone(now), orNone(now), None)

  /** As [[ofWatermarks]], after the end of the input. Time stops right before the watermark,
    * where the last row is, as it stops on a table.
    */
  def ofWatermarksAtEnd(late: Long, now: Long): BatchClock = {
    val clock = ofWatermarks(late, now)
    val lastRow = if (clock.now == Long.MinValue) clock.now else clock.now - 1
    clock.copy(now = Math.max(clock.lateBefore, lastRow), flushes = true)
  }

  /** A table, whose time ends at `end`, its greatest time, if it has one. */
  def ofTable(end: Option[Long]): BatchClock =
    BatchClock(Long.MinValue, Long.MaxValue, end.getOrElse(Long.MinValue), None)

  private def orNone(watermark: Long): Long = if (watermark <= 0) Long.MinValue else watermark
}
