package winops.window.batch

import winops.policy.{Origin, Span}
import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.contents.{FrontView, HeldRows}
import winops.window.expression.{RowCondition, RowNumber, WindowView}
import winops.window.time.{Anchor, Clock}

/** Decides when a batch is complete. */
private[window] abstract class BatchTrigger {

  /** Returns true if the row lacks a value that the trigger reads from every row. */
  def lacksValue(row: Long): Boolean = false

  /** Returns true if the batch that begins with `first` is complete without the newest row. */
  def endsBefore(row: Long, first: Long): Boolean = false

  /** Adds the newest row to the batch that begins with `first` and now has `count` rows. Returns
    * the ordinal before which the batch ends if it is complete, else [[WindowView.NoRow]].
    */
  def endAfter(row: Long, at: Long, first: Long, count: Long): Long = WindowView.NoRow

  /** Returns true if the batch is complete after other windows have evicted rows of it. The batch
    * goes from `first` to `last` and has `count` rows left.
    */
  def isCompleteAfterLoss(first: Long, last: Long, count: Long): Boolean = false

  /** The instant at which the batch is complete though no row arrives; [[Clock.Never]] if none.
    */
  def due: Long = Clock.Never

  /** Notes that a batch was inserted at `at`.
    *
    * @param byTime
    *   true if a timer completed the batch, false if a row did
    * @param something
    *   true if any row was inserted or deleted
    */
  def posted(at: Long, byTime: Boolean, something: Boolean): Unit = ()

  /** Passes over the timers up to `until`, while no row is held. */
  def skip(until: Long): Unit = ()

  /** Returns true if a batch without inserts and deletes emits an empty trigger. */
  def emitsEmpty: Boolean = false

  def clear(): Unit = ()
  def save(out: ByteWriter): Unit = ()
  def restore(in: ByteReader): Unit = ()
}

/** Completes a batch after `rows` rows. */
private[window] final class CountBatchTrigger(rows: Long) extends BatchTrigger {
  override def endAfter(row: Long, at: Long, first: Long, count: Long): Long =
    if (count >= rows) row + 1 else WindowView.NoRow
}

/** Completes a batch at the end of each span; consecutive spans start at the anchor. After a
  * batch without inserts and deletes, the timer stops until the next row.
  *
  * @param forced
  *   true if the timer keeps running instead and empty batches are emitted
  */
private[window] final class PeriodBatchTrigger(span: Span, anchor: Anchor, forced: Boolean)
    extends BatchTrigger {
  private var timer = Clock.Never

  override def endAfter(row: Long, at: Long, first: Long, count: Long): Long = {
    anchor.arrive(at)
    if (timer == Clock.Never) timer = span.nextAfter(at, anchor.instant)
    WindowView.NoRow
  }

  override def due: Long = timer

  override def posted(at: Long, byTime: Boolean, something: Boolean): Unit =
    timer = if (something || forced) span.nextAfter(at, anchor.instant) else Clock.Never

  override def skip(until: Long): Unit =
    if (forced && timer <= until) timer = span.nextAfter(until, anchor.instant)

  override def emitsEmpty: Boolean = forced

  override def clear(): Unit = {
    anchor.clear()
    timer = Clock.Never
  }

  override def save(out: ByteWriter): Unit = {
    anchor.save(out)
    out.number(timer)
  }

  override def restore(in: ByteReader): Unit = {
    anchor.restore(in)
    timer = in.number()
  }
}

/** Completes a batch after `rows` rows, or `span` after the last batch. If no timer runs, the
  * next row starts one: `span` after the row or, with a fixed origin, at the end of the span that
  * the row arrives in.
  *
  * @param forced
  *   true if a batch without inserts and deletes keeps the timer running and is emitted
  */
private[window] final class PeriodOrCountBatchTrigger(
    span: Span,
    rows: Long,
    origin: Origin,
    forced: Boolean)
    extends BatchTrigger {
  private var timer = Clock.Never

  override def endAfter(row: Long, at: Long, first: Long, count: Long): Long = {
    if (timer == Clock.Never) timer = origin match {
      case Origin.At(instant) => span.nextAfter(at, instant)
      case Origin.FirstRow => span.after(at)
    }
    if (count >= rows) row + 1 else WindowView.NoRow
  }

  override def due: Long = timer

  override def posted(at: Long, byTime: Boolean, something: Boolean): Unit =
    timer = if (!byTime || something || forced) span.after(at) else Clock.Never

  override def skip(until: Long): Unit = if (forced) {
    if (span.isExact && timer <= until) {
      val millis = span.after(0L)
      timer += Math.floorDiv(until - timer, millis) * millis
    }
    while (timer <= until) timer = span.after(timer)
  }

  override def emitsEmpty: Boolean = forced
  override def clear(): Unit = timer = Clock.Never
  override def save(out: ByteWriter): Unit = out.number(timer)
  override def restore(in: ByteReader): Unit = timer = in.number()
}

/** Completes a batch before a row whose timestamp is in a later span than that of the batch's
  * first row. Spans count from the reference, or from the timestamp of the group's first row.
  */
private[window] final class TimestampBatchTrigger(
    timestamp: RowNumber,
    span: Span,
    reference: Anchor)
    extends BatchTrigger {
  override def lacksValue(row: Long): Boolean = timestamp.isMissing(row)

  override def endsBefore(row: Long, first: Long): Boolean =
    timestamp.whole(row) >= span.nextAfter(timestamp.whole(first), reference.instant)

  override def endAfter(row: Long, at: Long, first: Long, count: Long): Long = {
    reference.arrive(timestamp.whole(row))
    WindowView.NoRow
  }

  override def clear(): Unit = reference.clear()
  override def save(out: ByteWriter): Unit = reference.save(out)
  override def restore(in: ByteReader): Unit = reference.restore(in)
}

/** Completes a batch with a row for which the condition holds.
  *
  * @param withRow
  *   true if that row belongs to the batch, false if it begins the next batch
  */
private[window] final class ConditionBatchTrigger(
    condition: RowCondition,
    withRow: Boolean,
    held: HeldRows)
    extends BatchTrigger {
  private val view = new FrontView(held)

  override def endAfter(row: Long, at: Long, first: Long, count: Long): Long = {
    view.set(row, first, row, count, 0L)
    if (!condition.holds(view)) WindowView.NoRow else if (withRow) row + 1 else row
  }

  override def isCompleteAfterLoss(first: Long, last: Long, count: Long): Boolean = {
    view.set(last, first, last, count, 0L)
    condition.holds(view)
  }

  override def emitsEmpty: Boolean = true
}
