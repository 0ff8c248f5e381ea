package winops.window.single

import winops.policy.Span
import winops.storage.rows.Rows
import winops.window.changes.Steps
import winops.window.time.Clock

/** Evicts each row once its age reaches `span`. */
private[window] final class KeepingYoung(span: Span, rows: Rows, steps: Steps)
    extends FrontRetainer(rows, steps) {
  override def due: Long =
    if (size == 0) Clock.Never else span.after(rows.arrival(head))

  override def arrive(row: Long, at: Long): Boolean = {
    steps.insert(row, row + 1)
    true
  }

  override def atDue(due: Long): Unit = {
    var until = head
    while (until < rows.end && span.after(rows.arrival(until)) <= due) until += 1
    removeUntil(until)
  }
}
