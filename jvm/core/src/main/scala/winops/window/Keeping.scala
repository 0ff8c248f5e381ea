package winops.window

import winops.log.{ByteReader, ByteWriter}
import winops.policy.Span

// The windows of the simplest kind: rows enter as they arrive and leave oldest first.

private final class KeepingAll(rows: Rows, steps: Steps) extends FrontRetainer(rows, steps) {
  override def arrive(row: Long, at: Long): Boolean = {
    steps.insert(row, row + 1)
    true
  }
}

/** When the window holds `excess` rows more than `count`, that many of the oldest leave. */
private final class KeepingNewest(count: Long, excess: Long, rows: Rows, steps: Steps)
    extends FrontRetainer(rows, steps) {
  override def arrive(row: Long, at: Long): Boolean = {
    steps.insert(row, row + 1)
    if (size >= count + excess) removeUntil(row + 1 - count)
    true
  }
}

/** Each row leaves when it is as old as `span`: age equal to the span is out. */
private final class KeepingYoung(span: Span, rows: Rows, steps: Steps)
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

/** All rows leave at the end of the span they arrived in; spans follow each other from the
  * anchor.
  */
private final class KeepingUntilPeriod(span: Span, anchor: Anchor, rows: Rows, steps: Steps)
    extends FrontRetainer(rows, steps) {
  override def due: Long = if (size == 0) Clock.Never else end(head)

  override def arrive(row: Long, at: Long): Boolean = {
    anchor.arrive(at)
    steps.insert(row, row + 1)
    true
  }

  override def atDue(due: Long): Unit = removeUntil(
    if (end(rows.end - 1) <= due) rows.end
    // They came when spans were longer.
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
