package winops.window.event

import winops.policy.Span
import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.storage.rows.Rows
import winops.window.rules.AgeBound
import winops.window.time.{Anchor, Clock}

/** Decides which rows of an event window are evicted, and when the window is full. */
private[window] abstract class Eviction {

  /** Returns true if the row has the value that the window reads. */
  def admits(row: Long): Boolean = true

  /** Notes the arrival of a row. */
  def arrive(at: Long): Unit = ()

  /** The oldest row, from `head` on, that stays when `row`, the newest, enters; `row` if all
    * others leave.
    */
  def beforeRow(head: Long, row: Long): Long = head

  /** Returns true if the window is full with the rows from `head` on, before `row`, the newest,
    * enters.
    */
  def fillsBeforeRow(head: Long, row: Long): Boolean = false

  /** Returns true if the window is full once its newest row has entered as one of `size` rows. */
  def fillsWithRow(size: Long): Boolean = false

  /** Returns true if all `size` rows leave with the newest one. */
  def emptiesWithRow(size: Long): Boolean = false

  /** Returns true if all rows leave at a window punctuation. */
  def emptiesWithPunctuation: Boolean = false

  /** The instant at which rows expire; [[Clock.Never]] if none does. The window holds the rows
    * from `head` on.
    */
  def due(head: Long): Long = Clock.Never

  /** The oldest row, from `head` on, that stays at `due`. */
  def atDue(head: Long, due: Long): Long = head

  def clear(): Unit = ()
  def save(out: ByteWriter): Unit = ()
  def restore(in: ByteReader): Unit = ()
}

/** Evicts all rows once the window has `count` rows. */
private final class TumblingRows(count: Long) extends Eviction {
  override def emptiesWithRow(size: Long): Boolean = size >= count
}

/** Evicts all rows at the end of the span in which the oldest row arrived. */
private final class TumblingPeriod(span: Span, anchor: Anchor, rows: Rows) extends Eviction {
  override def arrive(at: Long): Unit = anchor.arrive(at)
  override def due(head: Long): Long = span.nextAfter(rows.arrival(head), anchor.instant)
  override def atDue(head: Long, due: Long): Long = rows.end
  override def clear(): Unit = anchor.clear()
  override def save(out: ByteWriter): Unit = anchor.save(out)
  override def restore(in: ByteReader): Unit = anchor.restore(in)
}

/** Evicts all rows before a row whose value exceeds the oldest row's by more than the gap's
  * distance.
  */
private final class TumblingValue(gap: Gap) extends Eviction {
  override def admits(row: Long): Boolean = gap.has(row)

  override def beforeRow(head: Long, row: Long): Long =
    if (head < row && gap.isExceeded(head, row)) row else head
}

/** Evicts all rows at a window punctuation. */
private case object TumblingPunctuation extends Eviction {
  override def emptiesWithPunctuation: Boolean = true
}

/** Evicts the oldest row before a row that would make the window exceed `count` rows. */
private final class SlidingRows(count: Long) extends Eviction {
  override def beforeRow(head: Long, row: Long): Long = Math.max(head, row + 1 - count)
  override def fillsWithRow(size: Long): Boolean = size == count
}

/** Evicts each row when its age exceeds the bound. The window counts as full before its first
  * row.
  */
private final class SlidingTime(age: AgeBound, rows: Rows) extends Eviction {
  override def fillsBeforeRow(head: Long, row: Long): Boolean = true
  override def due(head: Long): Long = age.due(head)
  override def atDue(head: Long, due: Long): Long = age.firstStaying(head, rows.end, due)
}

/** Evicts the oldest rows whose value the arriving row's exceeds by more than the gap's distance.
  */
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
