package winops.window.single

import winops.storage.bytes.ByteReader
import winops.storage.rows.Rows
import winops.window.changes.Steps

/** Retains rows that leave oldest first: the window contents are all rows from `head` on. */
private[window] abstract class FrontRetainer(rows: Rows, steps: Steps) extends Retainer {
  protected var head: Long = rows.first

  protected final def size: Long = rows.end - head

  protected final def removeUntil(until: Long): Unit = {
    steps.delete(head, until)
    head = until
  }

  override def held: Long = size
  override def emitContents(): Unit = steps.content(head, rows.end)
  override def report(kind: Int): Unit = steps.report(kind, head, rows.end)

  override def leaveAll(): Unit = {
    steps.deleteGroup(head, rows.end)
    head = rows.end
  }

  override final def settle(): Unit = rows.release(head)
  override def clear(): Unit = head = rows.end
  override def restore(in: ByteReader): Unit = head = rows.first
}
