package winops.window.rules

import winops.window.contents.HeldRows

/** Holds the newest rows, as many as the rule allows. */
private[window] final class NewestPart(rule: CountRule, held: HeldRows) extends FrontPart(held) {
  override def arrive(row: Long, at: Long, evicted: EvictedRows): Unit = {
    super.arrive(row, at, evicted)
    var excess = rule.excess(count)
    while (excess > 0) {
      evictOldest(evicted, rule.excessReason)
      excess -= 1
    }
  }
}
