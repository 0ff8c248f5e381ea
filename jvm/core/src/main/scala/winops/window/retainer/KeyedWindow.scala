package winops.window.retainer

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.storage.rows.Rows
import winops.terms.RowOperation
import winops.window.changes.{ChangeQueue, ChangeReason, RowOutcome}
import winops.window.contents.{HeldRows, KeyIndex}
import winops.window.expression.WindowView
import winops.window.rules.{EvictedRows, NeededValues, Part}

/** A single window over rows with a primary key, of which it holds one row each. Rows are
  * operations: they insert, update or delete the row of their key.
  *
  * An updated row keeps its number, its arrival time, and thereby its place. Until the changes
  * are read, the row has its former values, and the newest row those of the update.
  *
  * Rows behind the window are rows of the group that are not in its contents: their keys are
  * known, and operations on them change them, but emit nothing unless a row returns.
  */
private[window] final class KeyedWindow(
    part: Part,
    needed: NeededValues,
    index: KeyIndex,
    content: HeldRows,
    rows: Rows,
    changes: ChangeQueue)
    extends Retainer {
  private val evicted = new EvictedRows(byLast = false)

  /** The row that gets the values of the newest row. */
  private var updated = WindowView.NoRow

  changes.onUpdateRead(() => applyUpdate())

  override def due: Long = part.due

  override def operate(operation: Int, row: Long, at: Long, hasRoom: Boolean): Int = {
    content.entered()
    val there = index.find(row)
    val isThere = there != WindowView.NoRow
    val isUpdate = operation == RowOperation.Update || operation == RowOperation.Upsert
    if (operation == RowOperation.Delete || isThere || operation == RowOperation.Update) {
      content.refused(row)
      if (!isThere) RowOutcome.NotHeld
      else if (operation == RowOperation.Delete) delete(there)
      else if (!isUpdate) RowOutcome.KeyHeld
      else if (!needed.areIn(row)) RowOutcome.NotAdmitted
      else update(there, row)
    } else if (!hasRoom && !part.replaces(row)) {
      content.refused(row)
      RowOutcome.NoRoom
    } else insert(row, at)
  }

  override def arrive(row: Long, at: Long): Boolean =
    operate(RowOperation.Upsert, row, at, hasRoom = true) == RowOutcome.Inserted

  override def atDue(due: Long): Unit = {
    evicted.clear()
    part.atDue(due, evicted)
    emitMoves()
  }

  override def held: Long = content.size

  override def emitContents(): Unit = {
    val ordered = part.inOrder
    if (ordered != null) ordered.foreach(row => changes.content(row, row + 1))
    else eachRow(row => if (!part.isBehind(row)) changes.content(row, row + 1))
  }

  override def report(kind: Int): Unit = changes.report(kind, content.from(0L), content.end)

  override def leaveAll(reason: Int): Unit = eachRow { row =>
    if (!part.isBehind(row)) changes.deleteGroup(row, row + 1, reason)
    val _ = content.leave(row)
  }

  override def settle(): Unit = {
    applyUpdate()
    content.settle()
    index.settle(content.size)
  }

  override def clear(): Unit = {
    updated = WindowView.NoRow
    content.startAfresh()
    part.clear()
    index.clear()
  }

  override def save(out: ByteWriter): Unit = {
    out.number(content.size)
    part.save(out)
    index.save(out)
  }

  override def restore(in: ByteReader): Unit = {
    updated = WindowView.NoRow
    content.restart(in.count(rows.end))
    part.restore(in)
    index.restore(in)
  }

  private def insert(row: Long, at: Long): Int =
    if (!needed.areIn(row) || !part.admits(row, at)) {
      content.refused(row)
      RowOutcome.NotAdmitted
    } else {
      evicted.clear()
      part.arrive(row, at, evicted)
      changes.insert(row, row + 1, ChangeReason.Arrived)
      index.add(row)
      emitMoves()
      RowOutcome.Inserted
    }

  private def update(row: Long, values: Long): Int = {
    evicted.clear()
    val isBehind = part.isBehind(row)
    part.update(row, values, evicted)
    // Nothing reads the former values of a row that is not in the window.
    if (isBehind) rows.replace(row)
    else {
      updated = row
      changes.update(row)
    }
    emitMoves()
    RowOutcome.Updated
  }

  private def delete(row: Long): Int = {
    evicted.clear()
    val isBehind = part.isBehind(row)
    part.forget(row)
    part.afterForgetting()
    val _ = content.leave(row)
    if (!isBehind) changes.delete(row, row + 1, ChangeReason.Deleted)
    emitMoves()
    RowOutcome.Deleted
  }

  private def applyUpdate(): Unit = if (updated != WindowView.NoRow) {
    val row = updated
    updated = WindowView.NoRow
    rows.replace(row)
  }

  /** Emits the rows that the step has evicted, and then those that return. */
  private def emitMoves(): Unit = {
    var i = 0
    while (i < evicted.size) {
      val row = evicted(i)
      val leaves = evicted.staysBehind(i) || content.leave(row)
      if (leaves && evicted.isChange(i)) changes.delete(row, row + 1, evicted.reason(i))
      i += 1
    }
    if (evicted.size > 0) part.afterForgetting()
    part.refill(evicted)
    i = 0
    while (i < evicted.returned.size) {
      val row = evicted.returned(i)
      changes.insert(row, row + 1, ChangeReason.Returned)
      i += 1
    }
  }

  /** Visits the rows of the window, oldest first; `visit` may remove the row. */
  private def eachRow(visit: Long => Unit): Unit = {
    var row = content.from(0L)
    while (row < content.end) {
      val next = content.next(row)
      visit(row)
      row = next
    }
  }
}
