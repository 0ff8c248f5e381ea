package winops.window.single

import winops.policy.Span
import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.storage.rows.Rows
import winops.window.changes.Steps
import winops.window.time.{Anchor, Clock}

/** Evicts all rows at the end of the span in which they arrived; consecutive spans start at the
  * anchor.
  */
private[window] final class KeepingUntilPeriod(
    span: Span,
    anchor: Anchor,
    rows: Rows,
    steps: Steps)
    extends FrontRetainer(rows, steps) {
  override def due: Long = if (size == 0) Clock.Never else end(head)

  override def arrive(row: Long, at: Long): Boolean = {
    anchor.arrive(at)
    steps.insert(row, row + 1)
    true
  }

  override def atDue(due: Long): Unit = removeUntil(
    if (end(rows.end - 1) <= due) rows.end
    // Rows of several spans are held only if an earlier run used a longer span.
    else (head until rows.end).find(end(_) > due).get)

  private def end(row: Long): Long = span.nextAfter(rows.arrival(row), anchor.instant)

  override def clear(): Unit = {
    super.clear()
    anchor.clear()
  }

  override def save(out: ByteWriter): Unit = anchor.save(out)

  override def restore(in: ByteReader): Unit = {
    super.restore(in)
    anchor.restore(in)
  }
}
