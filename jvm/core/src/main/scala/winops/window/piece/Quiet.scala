package winops.window.piece

import winops.terms.{Purpose, RowExpression, Span, Wording}
import winops.window.changes.ChangeReason
import winops.window.contents.HeldRows
import winops.window.contents.WindowContext.Make
import winops.window.rules.{EvictedRows, NewestRowPart, Part}
import winops.window.time.Clock

/** The end of a span in which no row has arrived. */
final case class Quiet(span: Span) extends Trigger {
  override def usesTime: Boolean = true
  override def firesAtPunctuation: Boolean = false
  override def reads: Seq[(Purpose, RowExpression)] = Nil
  override def reason: Int = ChangeReason.Silence
  override def words: String = s"when no row arrives for ${Wording.length(span)}"

  override private[window] def emptyingPart: Option[Make[Part]] =
    Some(context => new QuietPart(span, context.held))
}

/** Evicts all rows when no row has arrived for the span. */
private final class QuietPart(span: Span, held: HeldRows) extends NewestRowPart(held) {
  override def due: Long =
    if (count == 0) Clock.Never
    else {
      newest = held.lastFrom(newest)
      span.after(held.arrival(newest))
    }

  override def atDue(due: Long, evicted: EvictedRows): Unit =
    while (count > 0) evictOldest(evicted, ChangeReason.Silence)
}
