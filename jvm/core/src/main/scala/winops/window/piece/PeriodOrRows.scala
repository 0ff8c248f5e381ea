package winops.window.piece

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.terms.{Origin, Purpose, RowExpression, Span, Wording}
import winops.window.changes.ChangeReason
import winops.window.contents.WindowContext.Make
import winops.window.expression.WindowView
import winops.window.rules.BatchTrigger
import winops.window.time.Clock

/** The arrival of the `rows`-th row since the last trigger, or the end of `span` after the last
  * trigger, whichever comes first. The first span begins with the first row, or is the one of the
  * consecutive spans counted from `origin` in which that row arrives. After a timer without
  * changes, the next row starts a first span again, unless `forced`.
  *
  * @param origin
  *   instant from which the first span is counted; None selects the first row
  * @param forced
  *   true if a trigger without changes is emitted too
  */
final case class PeriodOrRows(span: Span, rows: Long, origin: Option[Origin], forced: Boolean)
    extends Trigger {
  override def usesTime: Boolean = true
  override def firesAtPunctuation: Boolean = false
  override def reads: Seq[(Purpose, RowExpression)] = Nil
  override def reason: Int = ChangeReason.Trigger

  override def words: String = {
    val start = from match {
      case Origin.FirstRow => "after the first row"
      case at => s"at the end of a period ${Wording.from(at)}"
    }
    s"${Wording.length(span)} after the previous batch (for the first batch: $start) or when the " +
      s"${Wording.ordinal(rows)} row arrives, whichever is first${Wording.alsoEmpty(forced)}"
  }

  override private[window] def batch: Option[Make[BatchTrigger]] =
    Some(_ => new PeriodOrCountBatchTrigger(span, rows, from, forced))

  private def from: Origin = origin.getOrElse(Origin.FirstRow)
}

/** Completes a batch after `rows` rows, or `span` after the last batch. If no timer runs, the
  * next row starts one: `span` after the row or, with a fixed origin, at the end of the span that
  * the row arrives in.
  *
  * @param forced
  *   true if a batch without inserts and deletes keeps the timer running and is emitted
  */
private final class PeriodOrCountBatchTrigger(
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
