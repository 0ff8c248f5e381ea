package winops.spark.group

/** The times of one micro-batch, or of a batch query, in milliseconds.
  *
  * @param lateBefore
  *   rows with an earlier time are late
  * @param releaseBefore
  *   rows with an earlier time no longer wait
  * @param now
  *   the time to which the clock of every group advances at the end of the batch
  * @param stamp
  *   arrival time of the rows of a stream without a time column; `None` with a time column and on
  *   a table, which has no clock
  * @param flushes
  *   whether the input has ended, so that waiting rows are to be applied
  */
final case class BatchTimes(
    lateBefore: Long,
    releaseBefore: Long,
    now: Long,
    stamp: Option[Long],
    flushes: Boolean = false)

object BatchTimes {

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
  def ofWatermarks(late: Long, now: Long): BatchTimes =
    BatchTimes(orNone(late), orNone(now), orNone(now), None)

  /** The times of [[ofWatermarks]] after the end of the input. Time stops right before the
    * watermark, at the time of the last row, as on a table.
    */
  def ofWatermarksAtEnd(late: Long, now: Long): BatchTimes = {
    val times = ofWatermarks(late, now)
    val lastRow = if (times.now == Long.MinValue) times.now else times.now - 1
    times.copy(now = Math.max(times.lateBefore, lastRow), flushes = true)
  }

  /** The times of a table. Time stops at `end`, the greatest time of its rows, if it has one. */
  def ofTable(end: Option[Long]): BatchTimes =
    BatchTimes(Long.MinValue, Long.MaxValue, end.getOrElse(Long.MinValue), None)

  private def orNone(watermark: Long): Long = if (watermark <= 0) Long.MinValue else watermark
}
