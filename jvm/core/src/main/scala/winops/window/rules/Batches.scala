package winops.window.rules

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.contents.HeldRows
import winops.window.expression.WindowView

/** The pending rows of a batch window, which a trigger divides into batches. */
private[window] trait Batches {
  protected def trigger: BatchTrigger
  protected def rows: HeldRows

  /** The ordinal that separates the rows of the last batch from the pending rows. */
  protected final var boundary = 0L

  /** Number of pending rows. */
  protected final var pending = 0L

  /** Completes the batch of the pending rows before `until`: inserts its rows, evicts the rows of
    * the last batch, and moves the boundary. Returns true if any row was inserted or evicted.
    */
  protected def post(until: Long): Boolean

  /** Adds the newest row, which may complete a batch without the row or with it. */
  protected final def join(row: Long, at: Long): Unit = {
    if (pending > 0 && trigger.endsBefore(row, rows.from(boundary))) postAt(at, row)
    pending += 1
    val end = trigger.endAfter(row, at, rows.from(boundary), pending)
    if (end != WindowView.NoRow) postAt(at, end)
  }

  /** Completes a batch because of a row. */
  protected final def postAt(at: Long, until: Long): Unit =
    trigger.posted(at, byTime = false, post(until))

  /** Completes the batch of all pending rows because a timer fires. */
  protected final def postDue(due: Long): Unit =
    trigger.posted(due, byTime = true, post(rows.end))

  /** Passes over empty batches up to `until`, if no row is held from `head` on. */
  protected final def skipEmpty(head: Long, until: Long): Unit =
    if (pending == 0 && boundary == rows.end && rows.from(head) >= rows.end) trigger.skip(until)

  protected final def clearBatches(): Unit = {
    boundary = 0L
    pending = 0L
    trigger.clear()
  }

  protected final def saveBatches(out: ByteWriter): Unit = {
    out.number(boundary)
    out.number(pending)
    trigger.save(out)
  }

  protected final def restoreBatches(in: ByteReader): Unit = {
    boundary = in.count(rows.end)
    pending = in.count(rows.end)
    trigger.restore(in)
  }
}
