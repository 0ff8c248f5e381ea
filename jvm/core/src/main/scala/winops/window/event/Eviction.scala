package winops.window.event

import winops.policy.Span
import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.storage.rows.Rows
import winops.window.rules.AgeBound
import winops.window.time.{Anchor, Clock}

/** Decides which rows of a window of events leave, and when it is full. */
private[window] abstract class Eviction {

  /** Returns true if the row has the value that the window reads. */
  def admits(row: Long): Boolean = true

  /** A row arrives. */
  def arrive(at: Long): Unit = ()

  /** The first row from `head` on that stays when `row`, the newest, enters. */
  def beforeRow(head: Long, row: Long): Long = head

  /** Returns true if the rows from `head` on are full before `row`, the newest, enters. */
  def fillsBeforeRow(head: Long, row: Long): Boolean = false

  /** Returns true if the window is full with its newest row, as one of `size`. */
  def fillsWithRow(size: Long): Boolean = false

  /** Returns true if all rows leave with the newest one, which is one of `size`. */
  def emptiesWithRow(size: Long): Boolean = false

  def emptiesWithPunctuation: Boolean = false

  /** The instant at which rows leave though none arrives; there are rows from `head` on. */
  def due(head: Long): Long = Clock.Never

  /** The first row from `head` on that stays at `due`. */
  def atDue(head: Long, due: Long): Long = head

  def clear(): Unit = ()
  def save(out: ByteWriter): Unit = ()
  def restore(in: ByteReader): Unit = ()
}

private final class TumblingRows(count: Long) extends Eviction {
  override def emptiesWithRow(size: Long): Boolean = size >= count
}

private final class TumblingPeriod(span: Span, anchor: Anchor, rows: Rows) extends Eviction {
  override def arrive(at: Long): Unit = anchor.arrive(at)
  override def due(head: Long): Long = span.nextAfter(rows.arrival(head), anchor.instant)
  override def atDue(head: Long, due: Long): Long = rows.end
  override def clear(): Unit = anchor.clear()
  override def save(out: ByteWriter): Unit = anchor.save(out)
  override def restore(in: ByteReader): Unit = anchor.restore(in)
}

private final class TumblingValue(gap: Gap) extends Eviction {
  override def admits(row: Long): Boolean = gap.has(row)

  override def beforeRow(head: Long, row: Long): Long =
    if (head < row && gap.isExceeded(head, row)) row else head
}

private case object TumblingPunctuation extends Eviction {
  override def emptiesWithPunctuation: Boolean = true
}

private final class SlidingRows(count: Long) extends Eviction {
  override def beforeRow(head: Long, row: Long): Long = Math.max(head, row + 1 - count)
  override def fillsWithRow(size: Long): Boolean = size == count
}

private final class SlidingTime(age: AgeBound, rows: Rows) extends Eviction {
  override def fillsBeforeRow(head: Long, row: Long): Boolean = true
  override def due(head: Long): Long = age.due(head)
  override def atDue(head: Long, due: Long): Long = age.firstStaying(head, rows.end, due)
}

private final class SlidingValue(gap: Gap) extends Eviction {
  override def admits(row: Long): Boolean = gap.has(row)

  override def beforeRow(head: Long, row: Long): Long = {
    var staying = head
    while (staying < row && gap.isExceeded(staying, row)) staying += 1
    staying
  }

  override def fillsBeforeRow(head: Long, row: Long): Boolean =
    head < row && gap.isExceeded(head, row)
}
