package winops.window.retainer

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.changes.{ChangeQueue, ChangeReason}
import winops.window.contents.HeldRows
import winops.window.expression.WindowView
import winops.window.rules.{CombinedParts, EvictedRows, NeededValues}

/** Windows that decide together about rows. In an intersection, the first window that evicts a
  * row removes it; in a union, the last window does.
  *
  * @param parts
  *   the windows
  * @param isUnion
  *   true for a union, false for an intersection or a single window
  * @param needed
  *   the values that a row must have
  */
private[window] final class Combination(
    parts: CombinedParts,
    isUnion: Boolean,
    needed: NeededValues,
    rows: HeldRows,
    changes: ChangeQueue)
    extends Retainer {
  private val evicted = new EvictedRows(byLast = isUnion)

  override def due: Long = parts.due

  override def arrive(row: Long, at: Long): Boolean = {
    rows.entered()
    val isComplete = needed.areIn(row)
    if (!isComplete) rows.refused(row)
    isComplete && offer(row, at)
  }

  /** Offers the row to every window. Returns true if all windows or, in a union, any window
    * admits the row. Rows that the windows evict leave in either case.
    */
  private def offer(row: Long, at: Long): Boolean = {
    evicted.clear()
    val admitting = parts.offer(row, at, evicted)
    val comesIn = if (isUnion) admitting > 0 else admitting == parts.size
    if (comesIn) changes.insert(row, row + 1, ChangeReason.Arrived)
    else {
      parts.takeBack(row)
      rows.refused(row)
    }
    emitEvictions(if (comesIn) WindowView.NoRow else row)
    comesIn
  }

  /** Fires the windows in order. In an intersection, the rows that one window evicts leave the
    * other windows before the next window fires.
    */
  override def atDue(due: Long): Unit = {
    evicted.clear()
    var i = 0
    while (i < parts.size) {
      if (parts(i).due <= due) {
        parts(i).atDue(due, evicted)
        if (!isUnion) {
          emitEvictions(WindowView.NoRow)
          evicted.clear()
        }
      }
      i += 1
    }
    if (isUnion) emitEvictions(WindowView.NoRow)
  }

  /** A union emits nothing for the empty batches of its windows, and each window passes over its
    * own: no row enters or leaves one of them because of another.
    */
  override def skipReports(until: Long): Long = {
    if (isUnion) parts.skipReports(until)
    0L
  }

  override def held: Long = rows.size

  override def emitContents(): Unit = {
    val ordered = if (parts.size == 1) parts(0).inOrder else null
    if (ordered != null) ordered.foreach(row => changes.content(row, row + 1))
    else {
      var row = rows.from(0L)
      while (row < rows.end) {
        changes.content(row, row + 1)
        row = rows.next(row)
      }
    }
  }

  override def report(kind: Int): Unit = changes.report(kind, rows.from(0L), rows.end)

  override def leaveAll(reason: Int): Unit = {
    var row = rows.from(0L)
    while (row < rows.end) {
      changes.deleteGroup(row, row + 1, reason)
      val next = rows.next(row)
      val _ = rows.leave(row)
      row = next
    }
  }

  override def settle(): Unit = rows.settle()

  override def clear(): Unit = {
    rows.startAfresh()
    parts.clear()
  }

  override def save(out: ByteWriter): Unit = {
    out.number(rows.size)
    parts.save(out)
  }

  override def restore(in: ByteReader): Unit = {
    rows.restart(in.count(rows.end))
    parts.restore(in)
  }

  /** Emits deletes for evicted rows, except `refused`, and removes the rows from all windows. */
  private def emitEvictions(refused: Long): Unit = {
    var i = 0
    while (i < evicted.size) {
      val row = evicted(i)
      val isOut = row != WindowView.NoRow && row != refused && !(isUnion && parts.holds(row))
      if (isOut && rows.leave(row)) {
        // A single window has removed the row from itself already.
        if (!isUnion && parts.size > 1) parts.forget(row)
        changes.delete(row, row + 1, evicted.reason(i))
      }
      i += 1
    }
    if (!isUnion && (evicted.size > 0 || refused != WindowView.NoRow)) parts.afterForgetting()
  }
}
