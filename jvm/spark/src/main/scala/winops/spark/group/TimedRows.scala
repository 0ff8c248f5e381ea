package winops.spark.group

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.spark.plan.OperatorPlan
import winops.spark.row.{RowBytes, RowShape}
import winops.storage.bytes.{ByteReader, ByteWriter, Segments}
import winops.storage.rows.{RowForm, RowLog}

/** The rows of a [[WaitingLog]] by their ordinals, waiting or released, with their times.
  *
  * @param segments
  *   stores the older rows
  * @param form
  *   predicts the rows
  */
private[group] final class TimedRows(plan: OperatorPlan, segments: Segments, form: RowForm) {
  private val log =
    new RowLog(
      segments,
      withArrival = false,
      RowShape.of(plan.waitingColumns),
      form,
      TimedRows.longestRun)
  private val row = new UnsafeRow(plan.waitingColumns.size)
  private val timeOrdinal = plan.timeOrdinal

  /** The ordinal of the oldest row. */
  def first: Long = log.first

  /** The ordinal behind the newest row. */
  def end: Long = log.end

  /** The number of rows. */
  def size: Long = log.size

  /** Points `target` to a row. It is valid until the next call of any method. */
  def pointTo(target: UnsafeRow, ordinal: Long): Unit = RowBytes.pointTo(target, log, ordinal)

  /** Returns a row. It is valid until the next call of any method but [[timeIn]]. */
  def at(ordinal: Long): UnsafeRow = {
    pointTo(row, ordinal)
    row
  }

  /** Returns the time of a row in microseconds. */
  def timeAt(ordinal: Long): Long = timeIn(at(ordinal))

  /** Returns the time in a row in microseconds. */
  def timeIn(row: UnsafeRow): Long = row.getLong(timeOrdinal)

  /** True if the newest row is not released after another row. */
  def endBefore(other: UnsafeRow, order: Ordering[InternalRow]): Boolean =
    order.compare(at(end - 1), other) <= 0

  /** Adds a row behind the newest one. */
  def append(added: UnsafeRow): Unit = RowBytes.append(log, 0L, added)

  /** Removes the rows before an ordinal. */
  def release(until: Long): Unit = log.release(until)

  /** Removes all rows of the open group. */
  def discard(): Unit = log.discard()

  /** Starts with a group without rows. */
  def clear(): Unit = log.clear()

  /** Returns true if the oldest row is in the group's own value. */
  def isFirstOpen: Boolean = log.isOpen(log.first)

  def save(out: ByteWriter): Unit = log.save(out)

  def restore(in: ByteReader): Unit = log.restore(in)
}

private[group] object TimedRows {

  /** The number of rows in a run at most. Each micro-batch may release a few rows of each
    * sequence.
    */
  val LongestRun = 32

  /** The number of rows of a micro-batch from which on runs are so long. Fewer rows are unsorted,
    * and a schedule releases them one by one, each with its run.
    */
  val ManyRows = 64L

  private def longestRun(appended: Long): Int =
    if (appended < ManyRows) RowLog.ShortestRun else LongestRun
}
