package winops.window.rules

import winops.policy.Span
import winops.window.contents.HeldRows
import winops.window.time.Clock

/** Evicts each row once its age reaches the span. */
private[window] final class YoungPart(span: Span, held: HeldRows) extends FrontPart(held) {
  override def due: Long = if (count == 0) Clock.Never else span.after(held.arrival(oldest))

  override def atDue(due: Long, evicted: Evicted): Unit =
    while (count > 0 && span.after(held.arrival(oldest)) <= due) evictOldest(evicted)
}
