package winops.window.rules

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.contents.HeldRows

/** A window that holds the rows of the group from `head` on. */
private[window] abstract class FrontPart(protected val held: HeldRows) extends Part {
  protected var head = 0L
  protected var count = 0L

  override def arrive(row: Long, at: Long, evicted: EvictedRows): Unit = count += 1
  override def forget(row: Long): Unit = if (row >= head) count -= 1
  override def holds(row: Long): Boolean = row >= head

  override def takeBack(row: Long): Unit = {
    forget(row)
    // The window may have evicted the row at once and moved its head past it.
    head = Math.min(head, row)
  }

  override def startFrom(row: Long): Unit = head = Math.max(head, row)

  protected final def oldest: Long = held.from(head)

  protected final def evictOldest(evicted: EvictedRows, reason: Int): Unit = {
    val row = oldest
    evicted.add(row, reason)
    pass(row)
  }

  /** Moves the head past `row`, the oldest row. */
  protected final def pass(row: Long): Unit = {
    head = row + 1
    count -= 1
  }

  override def clear(): Unit = {
    head = 0L
    count = 0L
  }

  override def save(out: ByteWriter): Unit = {
    out.number(head)
    out.number(count)
  }

  override def restore(in: ByteReader): Unit = {
    head = in.count(Long.MaxValue)
    count = in.count(held.end)
  }
}
