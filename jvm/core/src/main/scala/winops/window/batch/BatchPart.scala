package winops.window.batch

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.contents.HeldRows
import winops.window.expression.WindowView
import winops.window.rules.{Evicted, Part}

/** A batch window in a union: evicts the rows of a batch when the next batch is complete. */
private[window] final class BatchPart(trigger: BatchTrigger, held: HeldRows) extends Part {
  private var head = 0L
  private var boundary = 0L
  private var pending = 0L

  override def lacksValue(row: Long): Boolean = trigger.lacksValue(row)

  override def arrive(row: Long, at: Long, evicted: Evicted): Unit = {
    if (pending > 0 && trigger.endsBefore(row, held.from(boundary))) {
      trigger.posted(at, byTime = false, post(row, evicted))
    }
    pending += 1
    val end = trigger.endAfter(row, at, held.from(boundary), pending)
    if (end != WindowView.NoRow) trigger.posted(at, byTime = false, post(end, evicted))
  }

  override def due: Long = trigger.due

  override def atDue(due: Long, evicted: Evicted): Unit =
    trigger.posted(due, byTime = true, post(held.end, evicted))

  override def forget(row: Long): Unit = ()
  override def holds(row: Long): Boolean = row >= head

  override def clear(): Unit = {
    head = 0L
    boundary = 0L
    pending = 0L
    trigger.clear()
  }

  override def save(out: ByteWriter): Unit = {
    out.number(head)
    out.number(boundary)
    out.number(pending)
    trigger.save(out)
  }

  override def restore(in: ByteReader): Unit = {
    head = in.count(held.end)
    boundary = in.count(held.end)
    pending = in.count(held.end)
    trigger.restore(in)
  }

  /** Ends the batch before `until` and evicts the previous batch. Returns true if any row was
    * pending or evicted.
    */
  private def post(until: Long, evicted: Evicted): Boolean = {
    val something = pending > 0 || held.from(head) < boundary
    var row = held.from(head)
    while (row < boundary) {
      evicted.add(row)
      row = held.next(row)
    }
    head = boundary
    boundary = until
    // A union removes no row between others, so only the newest row can be left pending.
    pending = if (until < held.end) 1L else 0L
    something
  }
}
