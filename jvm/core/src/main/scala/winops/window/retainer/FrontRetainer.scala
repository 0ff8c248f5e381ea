package winops.window.retainer

import winops.storage.bytes.ByteReader
import winops.storage.rows.Rows
import winops.window.changes.ChangeQueue

/** Retains rows that leave oldest first: the window contents are all rows from `head` on. */
private[window] abstract class FrontRetainer(rows: Rows, changes: ChangeQueue) extends Retainer {
  protected var head: Long = rows.first

  protected final def size: Long = rows.end - head

  protected final def removeUntil(until: Long, reason: Int): Unit = {
    changes.delete(head, until, reason)
    head = until
  }

  override def held: Long = size
  override def emitContents(): Unit = changes.content(head, rows.end)
  override def report(kind: Int): Unit = changes.report(kind, head, rows.end)

  override def leaveAll(reason: Int): Unit = {
    changes.deleteGroup(head, rows.end, reason)
    head = rows.end
  }

  override final def settle(): Unit = rows.release(head)
  override def clear(): Unit = head = rows.end
  override def restore(in: ByteReader): Unit = head = rows.first
}
