package winops.window.single

import winops.storage.rows.Rows
import winops.window.changes.{ChangeReason, Steps}
import winops.window.rules.CountRule

/** Holds the newest rows, as many as the rule allows. */
private[window] final class KeepingNewest(rule: CountRule, rows: Rows, steps: Steps)
    extends FrontRetainer(rows, steps) {
  override def arrive(row: Long, at: Long): Boolean = {
    steps.insert(row, row + 1, ChangeReason.Arrived)
    val excess = rule.excess(size)
    if (excess > 0) removeUntil(head + excess, rule.excessReason)
    true
  }
}
