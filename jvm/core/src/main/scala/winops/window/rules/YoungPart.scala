package winops.window.rules

import winops.window.changes.ChangeReason
import winops.window.contents.HeldRows
import winops.window.time.Clock

/** Evicts each row of a combination once it is as old as the rule allows. */
private[window] final class YoungPart(rule: AgeRule, held: HeldRows) extends FrontPart(held) {
  override def due: Long = if (count == 0) Clock.Never else rule.due(oldest)

  override def atDue(due: Long, evicted: EvictedRows): Unit =
    while (count > 0 && rule.due(oldest) <= due) evictOldest(evicted, ChangeReason.Expired)
}
