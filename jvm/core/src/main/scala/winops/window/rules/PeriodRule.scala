package winops.window.rules

import winops.policy.Span
import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.storage.rows.Rows
import winops.window.changes.ChangeReason
import winops.window.time.Anchor

/** Evicts a row at the end of the span in which it arrived; consecutive spans start at the
  * anchor.
  */
private[window] final class PeriodRule(span: Span, anchor: Anchor, rows: Rows)
    extends EvictionRule {
  override def arrive(at: Long): Unit = anchor.arrive(at)
  override def due(row: Long): Long = span.nextAfter(rows.arrival(row), anchor.instant)

  override def firstStaying(head: Long, end: Long, at: Long): Long =
    if (due(end - 1) <= at) end
    // Rows of several spans are held only if an earlier run used a longer span.
    else super.firstStaying(head, end, at)

  override def reason: Int = ChangeReason.Trigger
  override def clear(): Unit = anchor.clear()
  override def save(out: ByteWriter): Unit = anchor.save(out)
  override def restore(in: ByteReader): Unit = anchor.restore(in)
}
