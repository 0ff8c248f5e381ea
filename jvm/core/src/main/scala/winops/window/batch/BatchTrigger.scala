package winops.window.batch

import winops.policy.{Origin, Span}
import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.contents.{FrontView, HeldRows}
import winops.window.expression.{RowCondition, RowNumber, WindowView}
import winops.window.time.{Anchor, Clock}

/** Decides when a batch is complete. */
private[window] abstract class BatchTrigger {

  /** Returns true if the row has no value for what the trigger reads of every row. */
  def lacksValue(row: Long): Boolean = false

  /** Returns true if the batch that begins with `first` is complete without the newest row. */
  def endsBefore(row: Long, first: Long): Boolean = false

  /** Counts the newest row to the batch that begins with `first` and now has `count` rows. Returns the ordinal that the batch ends before if it is complete, else [[WindowView.NoRow]].
    */
  def endAfter(row: Long, at: Long, first: Long, count: Long): Long = WindowView.NoRow

  /** Returns true if the batch is complete after other windows have evicted rows of it; it goes from `first` to `last` and has `count` rows left.
    */
  def isCompleteAfterLoss(first: Long, last: Long, count: Long): Boolean = false

  /** The instant at which the batch is complete though no row arrives. */
  def due: Long = Clock.Never

  /** A batch entered at `at`.
    *
    * @param byTime
    *   true if a timer completed the batch, not a row
    * @param something
    *   true if any row entered or left with it
    */
  def posted(at: Long, byTime: Boolean, something: Boolean): Unit = ()

  /** Returns true if a batch without inserts and deletes is emitted too. */
  def emitsEmpty: Boolean = false

  def clear(): Unit = ()
  def save(out: ByteWriter): Unit = ()
  def restore(in: ByteReader): Unit = ()
}

private[window] final class CountBatchTrigger(rows: Long) extends BatchTrigger {
  override def endAfter(row: Long, at: Long, first: Long, count: Long): Long =
    if (count >= rows) row + 1 else WindowView.NoRow
}

/** The ends of spans in a row from an anchor on, as long as there is something to tell. */
private[window] final class PeriodBatchTrigger(span: Span, anchor: Anchor, forced: Boolean) extends BatchTrigger {
  private var timer = Clock.Never

  override def endAfter(row: Long, at: Long, first: Long, count: Long): Long = {
    anchor.arrive(at)
    if (timer == Clock.Never) timer = span.nextAfter(at, anchor.instant)
    WindowView.NoRow
  }

  override def due: Long = timer

  override def posted(at: Long, byTime: Boolean, something: Boolean): Unit =
    timer = if (something || forced) span.nextAfter(at, anchor.instant) else Clock.Never

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

/** A number of rows, or a span since the last batch or the first row after it. Spans that count
  * from another instant than that of a row have counted since then when the first row comes.
  */
private[window] final class PeriodOrCountBatchTrigger(span: Span, rows: Long, origin: Origin, forced: Boolean)
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

  override def emitsEmpty: Boolean = forced
  override def clear(): Unit = timer = Clock.Never
  override def save(out: ByteWriter): Unit = out.number(timer)
  override def restore(in: ByteReader): Unit = timer = in.number()
}

/** A row whose timestamp is in another span than that of the batch's first row; spans count from
  * a reference, or from the timestamp of the first row ever.
  */
private[window] final class TimestampBatchTrigger(timestamp: RowNumber, span: Span, reference: Anchor)
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

/** A row with which the condition holds. */
private[window] final class ConditionBatchTrigger(condition: RowCondition, withRow: Boolean, held: HeldRows)
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
