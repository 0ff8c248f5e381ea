package winops.window.single

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.storage.rows.Rows
import winops.window.changes.{ChangeReason, Steps}
import winops.window.rules.PeriodRule
import winops.window.time.Clock

/** Evicts all rows at the end of the period in which they arrived. */
private[window] final class KeepingUntilPeriod(rule: PeriodRule, rows: Rows, steps: Steps)
    extends FrontRetainer(rows, steps) {
  override def due: Long = if (size == 0) Clock.Never else rule.due(head)

  override def arrive(row: Long, at: Long): Boolean = {
    rule.arrive(at)
    steps.insert(row, row + 1, ChangeReason.Arrived)
    true
  }

  override def atDue(due: Long): Unit =
    removeUntil(rule.firstStaying(head, rows.end, due), ChangeReason.Trigger)

  override def clear(): Unit = {
    super.clear()
    rule.clear()
  }

  override def save(out: ByteWriter): Unit = rule.save(out)

  override def restore(in: ByteReader): Unit = {
    super.restore(in)
    rule.restore(in)
  }
}
