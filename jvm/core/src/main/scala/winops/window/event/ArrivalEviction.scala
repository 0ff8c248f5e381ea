package winops.window.event

import winops.window.changes.ChangeReason
import winops.window.rules.CountRule

/** Decides which rows of an event window leave because a row or a punctuation arrives, and when
  * the window is full.
  */
private[window] abstract class ArrivalEviction {

  /** Returns true if the row has the value that the window reads. */
  def admits(row: Long): Boolean = true

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

  /** Number of oldest rows that leave with the newest of `size` rows, after that row entered. */
  def afterRow(size: Long): Long = 0L

  /** The [[ChangeReason]] of the evictions. */
  def reason: Int = ChangeReason.Trigger

  /** Returns true if all rows leave at a window punctuation. */
  def emptiesWithPunctuation: Boolean = false
}

/** Evicts no row. */
private case object NoArrivalEviction extends ArrivalEviction

/** Evicts no row. The window counts as full before its first row. */
private case object FullFromStart extends ArrivalEviction {
  override def fillsBeforeRow(head: Long, row: Long): Boolean = true
}

/** Evicts all rows once the window has `count` rows. */
private final class TumblingRows(count: Long) extends ArrivalEviction {
  private val rule = new CountRule(0L, slack = count)

  override def afterRow(size: Long): Long = rule.excess(size)
}

/** Evicts all rows before a row whose value exceeds the oldest row's by more than the gap's
  * distance.
  */
private final class TumblingValue(gap: Gap) extends ArrivalEviction {
  override def admits(row: Long): Boolean = gap.has(row)

  override def beforeRow(head: Long, row: Long): Long =
    if (head < row && gap.isExceeded(head, row)) row else head
}

/** Evicts all rows at a window punctuation. */
private case object TumblingPunctuation extends ArrivalEviction {
  override def emptiesWithPunctuation: Boolean = true
  override def reason: Int = ChangeReason.Punctuation
}

/** Evicts the oldest row before a row that would make the window exceed `count` rows. */
private final class SlidingRows(count: Long) extends ArrivalEviction {
  private val rule = new CountRule(count)

  override def beforeRow(head: Long, row: Long): Long = head + rule.excess(row + 1 - head)
  override def fillsWithRow(size: Long): Boolean = size == count
  override def reason: Int = ChangeReason.Displaced
}

/** Evicts the oldest rows whose value the arriving row's exceeds by more than the gap's distance.
  */
private final class SlidingValue(gap: Gap) extends ArrivalEviction {
  override def admits(row: Long): Boolean = gap.has(row)
  override def reason: Int = ChangeReason.Distance

  override def beforeRow(head: Long, row: Long): Long = {
    var staying = head
    while (staying < row && gap.isExceeded(staying, row)) staying += 1
    staying
  }

  override def fillsBeforeRow(head: Long, row: Long): Boolean =
    head < row && gap.isExceeded(head, row)
}
