package winops.window.contents

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.storage.rows.Rows

/** The rows of a group as seen by one of several independent windows. A row before [[first]] may
  * still be stored because another window needs it.
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

  override def contains(ordinal: Long): Boolean = ordinal >= head && rows.contains(ordinal)
  override def arrival(ordinal: Long): Long = rows.arrival(ordinal)
  override def release(until: Long): Unit = head = Math.max(head, until)

  /** Releases all rows up to `ordinal`, because the rows leave oldest first. When a whole group
    * is removed, some of the rows may have been released already.
    */
  override def remove(ordinal: Long): Unit = release(ordinal + 1)

  override def takeBack(): Unit =
    throw new UnsupportedOperationException("a row that several windows share is never refused")

  /** Starts with no rows: skips the rows that are stored. */
  def clear(): Unit = head = rows.end

  def save(out: ByteWriter): Unit = out.number(head - rows.first)
  def restore(in: ByteReader): Unit = head = rows.first + in.count(rows.end - rows.first)
}
