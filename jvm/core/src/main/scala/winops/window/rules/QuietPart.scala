package winops.window.rules

import winops.policy.Span
import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.changes.ChangeReason
import winops.window.contents.HeldRows
import winops.window.expression.WindowView
import winops.window.time.Clock

/** Evicts all rows when no row has arrived for the span. */
private[window] final class QuietPart(span: Span, held: HeldRows) extends FrontPart(held) {
  private var newest = WindowView.NoRow

  override def arrive(row: Long, at: Long, evicted: EvictedRows): Unit = {
    super.arrive(row, at, evicted)
    newest = row
  }

  override def due: Long =
    if (count == 0) Clock.Never
    else {
      newest = held.lastFrom(newest)
      span.after(held.arrival(newest))
    }

  override def atDue(due: Long, evicted: EvictedRows): Unit =
    while (count > 0) evictOldest(evicted, ChangeReason.Silence)

  override def clear(): Unit = {
    super.clear()
    newest = WindowView.NoRow
  }

  override def save(out: ByteWriter): Unit = {
    super.save(out)
    out.number(newest)
  }

  override def restore(in: ByteReader): Unit = {
    super.restore(in)
    newest = in.number()
  }
}
