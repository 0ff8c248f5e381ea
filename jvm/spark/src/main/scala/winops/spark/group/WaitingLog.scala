package winops.spark.group

import java.util.concurrent.TimeUnit

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.spark.plan.KeepPlan
import winops.spark.row.{RowBytes, RowShape}
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException, Segments}
import winops.storage.rows.{RowForm, RowLog}
import winops.window.time.Clock

/** The rows of a group that wait for the watermark, in the order of their arrival.
  *
  * Rows are released by time, but only the oldest rows of a [[RowLog]] can be removed. A released
  * row between waiting rows stays in the log: rows before the first waiting one do not wait any
  * more. The waiting rows are written again only when the log has many more rows.
  *
  * @param segments
  *   stores the older rows of the log
  * @param form
  *   predicts the rows
  */
final class WaitingLog(plan: KeepPlan, segments: Segments, form: RowForm = RowForm.Unknown) {
  import WaitingLog._

  private val log =
    new RowLog(segments, withArrival = false, RowShape.of(plan.waitingColumns), form)
  private val row = new UnsafeRow(plan.waitingColumns.size)
  private val timeOrdinal = plan.timeOrdinal
  private var count = 0L
  private var first = Never
  private var inOrder = true

  /** The number of waiting rows. */
  def size: Long = count

  /** The earliest time of a waiting row in microseconds, or the beginning of its millisecond;
    * `Long.MaxValue` if no row waits.
    */
  def firstTime: Long = first

  /** The greatest time of a waiting row in milliseconds; `Long.MinValue` if no row waits. */
  def lastTime: Long =
    if (count == 0) Long.MinValue
    else if (inOrder) Clock.floorToMillis(timeOf(log.end - 1))
    else Clock.floorToMillis(ordinals.map(timeOf).max)

  /** The ordinals of the waiting rows, in the order of their arrival. */
  def ordinals: Iterator[Long] =
    Iterator
      .iterate(log.first)(_ + 1)
      .takeWhile(_ < log.end)
      .filter(ordinal => inOrder || timeOf(ordinal) >= first)

  /** Points `target` to a waiting row. It is valid until the next call of any method. */
  def pointTo(target: UnsafeRow, ordinal: Long): Unit = RowBytes.pointTo(target, log, ordinal)

  /** Adds a row; `order` is the order in which rows are released. */
  def append(added: UnsafeRow, order: Ordering[InternalRow]): Unit = {
    if (inOrder && count > 0) {
      pointTo(row, log.end - 1)
      inOrder = order.compare(row, added) <= 0
    }
    store(added)
  }

  /** Returns the rows before a time, in the order of their release. The caller takes all of them
    * and calls [[WaitingRows.finish]] before any other method.
    *
    * @param before
    *   the time in microseconds; all rows are released if it is `Long.MaxValue`
    */
  def release(before: Long, order: Ordering[InternalRow]): WaitingRows =
    if (count == 0 || first >= before && before != Long.MaxValue) NoWaitingRows
    else if (inOrder) new InOrder(before)
    else new ByTime(before, order)

  def clear(): Unit = {
    log.clear()
    reset()
  }

  /** The form in which [[save]] writes the rows, a number from 0 to 3. */
  def kind: Int =
    if (count == 0) NoRows
    else if (inOrder) RowsInOrder
    else if (log.size == count) Rows
    else SomeReleased

  /** Writes the rows.
    *
    * @param clock
    *   the clock of the group in milliseconds, near the times of the rows
    */
  def save(out: ByteWriter, clock: Long): Unit =
    if (count == 0) log.discard()
    else {
      if (kind == SomeReleased) out.number(log.size - count)
      log.save(out)
      // Rows are released up to whole milliseconds.
      if (!firstIsKnown) out.number(Clock.floorToMillis(first) - clock)
    }

  /** Restores the rows of a group with the kind and clock that they were written with. */
  def restore(in: ByteReader, kind: Int, clock: Long): Unit = {
    reset()
    if (kind == NoRows) log.clear()
    else {
      inOrder = kind == RowsInOrder
      val released = if (kind == SomeReleased) in.count(Long.MaxValue) else 0L
      log.restore(in)
      count = log.size - released
      if (count <= 0 || kind < NoRows || kind > SomeReleased) {
        throw new CorruptStateException(s"$released of ${log.size} rows wait no more")
      }
      first =
        if (firstIsKnown) timeOf(log.first)
        else TimeUnit.MILLISECONDS.toMicros(clock + in.number())
    }
  }

  /** True if the earliest time is that of a row in the group's own value. */
  private def firstIsKnown: Boolean = inOrder && log.isOpen(log.first)

  /** Restores rows of state format 5. */
  def restoreFormat5(in: ByteReader): Unit = {
    reset()
    first = in.number()
    inOrder = in.byte() == 1
    log.restore(in)
    count = log.size
  }

  private def reset(): Unit = {
    count = 0L
    first = Never
    inOrder = true
  }

  private def store(added: UnsafeRow): Unit = {
    RowBytes.append(log, 0L, added)
    count += 1
    first = Math.min(first, timeIn(added))
  }

  private def timeOf(ordinal: Long): Long = {
    pointTo(row, ordinal)
    timeIn(row)
  }

  private def timeIn(row: UnsafeRow): Long = row.getLong(timeOrdinal)

  /** Removes the rows from the front of the log, which is in order. */
  private final class InOrder(before: Long) extends WaitingRows {
    private var taken = log.first

    override def first: UnsafeRow =
      if (taken == log.end) null
      else {
        pointTo(row, taken)
        if (timeIn(row) < before || before == Long.MaxValue) row else null
      }

    override def take(): Unit = {
      taken += 1
      count -= 1
    }

    override def finish(): Unit = {
      log.release(taken)
      count = log.size
      WaitingLog.this.first = if (count == 0) Never else timeOf(log.first)
    }
  }

  /** Finds the rows in the log, and removes those that lie before all waiting rows. */
  private final class ByTime(before: Long, order: Ordering[InternalRow]) extends WaitingRows {
    private var firstStaying = Never
    private var firstOrdinal = log.end
    private val rows = collect()
    private var taken = 0

    override def first: UnsafeRow = if (taken == rows.length) null else rows(taken)

    override def take(): Unit = {
      taken += 1
      count -= 1
    }

    override def finish(): Unit = {
      WaitingLog.this.first = firstStaying
      log.release(firstOrdinal)
      if (count == 0) reset()
      else if (log.size > MostPerWaiting * count + FewRows) rewrite(order)
    }

    private def collect(): Array[UnsafeRow] = {
      val due = mutable.ArrayBuffer.empty[UnsafeRow]
      ordinals.foreach { ordinal =>
        pointTo(row, ordinal)
        val time = timeIn(row)
        if (time < before || before == Long.MaxValue) due += row.copy()
        else {
          firstStaying = Math.min(firstStaying, time)
          firstOrdinal = Math.min(firstOrdinal, ordinal)
        }
      }
      sorted(due, order)
    }
  }

  /** Writes the waiting rows again, in order. */
  private def rewrite(order: Ordering[InternalRow]): Unit = {
    val waiting = mutable.ArrayBuffer.empty[UnsafeRow]
    ordinals.foreach { ordinal =>
      pointTo(row, ordinal)
      waiting += row.copy()
    }
    log.discard()
    reset()
    sorted(waiting, order).foreach(store)
  }
}

private object WaitingLog {
  val Never: Long = Long.MaxValue

  /** The log has at most so many rows for each waiting row, and some more. */
  val MostPerWaiting = 4L
  val FewRows = 64L

  // The kinds of a stored log.
  val NoRows = 0
  val Rows = 1
  val RowsInOrder = 2
  val SomeReleased = 3

  /** Sorts rows. The sort is stable, so equal rows stay in the order of their arrival. */
  def sorted(
      rows: mutable.ArrayBuffer[UnsafeRow],
      order: Ordering[InternalRow]): Array[UnsafeRow] = {
    val all = rows.toArray
    java.util.Arrays.sort(all, order)
    all
  }
}
