package winops.window.rules

import winops.window.contents.HeldRows
import winops.window.time.Clock

/** One of several windows, whose oldest rows leave by a rule that stores nothing. */
private[window] final class RulePart(rule: EvictionRule, held: HeldRows) extends FrontPart(held) {
  override def arrive(row: Long, at: Long, evicted: EvictedRows): Unit = {
    super.arrive(row, at, evicted)
    var excess = rule.excess(count)
    while (excess > 0) {
      evictOldest(evicted, rule.excessReason)
      excess -= 1
    }
  }

  override def due: Long =
    if (!rule.usesTime || count == 0) Clock.Never else rule.due(oldest)

  override def atDue(due: Long, evicted: EvictedRows): Unit =
    while (count > 0 && rule.due(oldest) <= due) evictOldest(evicted, rule.reason)
}
