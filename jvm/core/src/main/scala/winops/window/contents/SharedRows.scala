package winops.window.contents

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.storage.rows.Rows

/** The rows of a group as one of several windows over them sees them: those that it has forgotten
  * may be there for the others.
  */
private[window] final class SharedRows(rows: Rows) extends Rows {
  private var head = rows.first

  override def end: Long = rows.end
  override def first: Long = head
  override def next(ordinal: Long): Long = if (ordinal < head) head else rows.next(ordinal)

  override def previous(ordinal: Long): Long = {
    val there = rows.previous(ordinal)
    if (there >= head) there else -1L
  }

  override def arrival(ordinal: Long): Long = rows.arrival(ordinal)
  override def release(until: Long): Unit = head = Math.max(head, until)

  /** The rows leave oldest first, and those of a group that is forgotten may be gone already. */
  override def remove(ordinal: Long): Unit = release(ordinal + 1)

  override def takeBack(): Unit =
    throw new UnsupportedOperationException("a row that several windows share is never refused")

  /** Starts with no rows: skips those that are there. */
  def clear(): Unit = head = rows.end

  def save(out: ByteWriter): Unit = out.number(head - rows.first)
  def restore(in: ByteReader): Unit = head = rows.first + in.count(rows.end - rows.first)
}
