package winops.window.retainer

import winops.storage.bytes.ByteReader
import winops.storage.rows.Rows
import winops.window.changes.Steps

/** Retains rows that leave oldest first: the window contents are all rows from `head` on. */
private[window] abstract class FrontRetainer(rows: Rows, steps: Steps) extends Retainer {
  protected var head: Long = rows.first

  protected final def size: Long = rows.end - head

  protected final def removeUntil(until: Long, reason: Int): Unit = {
    steps.delete(head, until, reason)
    head = until
  }

  override def held: Long = size
  override def emitContents(): Unit = steps.content(head, rows.end)
  override def report(kind: Int): Unit = steps.report(kind, head, rows.end)

  override def leaveAll(reason: Int): Unit = {
    steps.deleteGroup(head, rows.end, reason)
    head = rows.end
  }

  override final def settle(): Unit = rows.release(head)
  override def clear(): Unit = head = rows.end
  override def restore(in: ByteReader): Unit = head = rows.first
}
