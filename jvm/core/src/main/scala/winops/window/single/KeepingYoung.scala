package winops.window.single

import winops.storage.rows.Rows
import winops.window.changes.{ChangeReason, Steps}
import winops.window.rules.AgeRule
import winops.window.time.Clock

/** A single window that evicts each row once it is as old as the rule allows. */
private[window] final class KeepingYoung(rule: AgeRule, rows: Rows, steps: Steps)
    extends FrontRetainer(rows, steps) {
  override def due: Long = if (size == 0) Clock.Never else rule.due(head)

  override def arrive(row: Long, at: Long): Boolean = {
    steps.insert(row, row + 1, ChangeReason.Arrived)
    true
  }

  override def atDue(due: Long): Unit =
    removeUntil(rule.firstStaying(head, rows.end, due), ChangeReason.Expired)
}
