package winops.window.rules

import winops.window.changes.ChangeReason

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
private[window] case object NoArrivalEviction extends ArrivalEviction
