package winops.window.batch

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.contents.HeldRows
import winops.window.expression.WindowView
import winops.window.rules.{LetGo, Part}

/** A window of batches in a union: it lets go of a batch when the next one is complete. */
private[window] final class BatchPart(beat: BatchBeat, held: HeldRows) extends Part {
  private var head = 0L
  private var boundary = 0L
  private var pending = 0L

  override def lacksValue(row: Long): Boolean = beat.lacksValue(row)

  override def arrive(row: Long, at: Long, letGo: LetGo): Unit = {
    if (pending > 0 && beat.endsBefore(row, held.from(boundary))) {
      beat.posted(at, byTime = false, post(row, letGo))
    }
    pending += 1
    val end = beat.endAfter(row, at, held.from(boundary), pending)
    if (end != WindowView.NoRow) beat.posted(at, byTime = false, post(end, letGo))
  }

  override def due: Long = beat.due

  override def atDue(due: Long, letGo: LetGo): Unit =
    beat.posted(due, byTime = true, post(held.end, letGo))

  override def forget(row: Long): Unit = ()
  override def holds(row: Long): Boolean = row >= head

  override def clear(): Unit = {
    head = 0L
    boundary = 0L
    pending = 0L
    beat.clear()
  }

  override def save(out: ByteWriter): Unit = {
    out.number(head)
    out.number(boundary)
    out.number(pending)
    beat.save(out)
  }

  override def restore(in: ByteReader): Unit = {
    head = in.count(held.end)
    boundary = in.count(held.end)
    pending = in.count(held.end)
    beat.restore(in)
  }

  private def post(until: Long, letGo: LetGo): Boolean = {
    val something = pending > 0 || held.from(head) < boundary
    var row = held.from(head)
    while (row < boundary) {
      letGo.add(row)
      row = held.next(row)
    }
    head = boundary
    boundary = until
    // Nothing leaves the midst of a union, so what stays behind is at most the newest row.
    pending = if (until < held.end) 1L else 0L
    something
  }
}
