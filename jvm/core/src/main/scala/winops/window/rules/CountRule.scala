package winops.window.rules

import winops.window.changes.ChangeReason

/** Evicts the rows beyond the newest `count`, as soon as there are `slack` of them. */
private[window] final class CountRule(count: Long, slack: Long = 1L) extends EvictionRule {

  override val excessReason: Int = CountRule.reason(count, slack)

  override def usesTime: Boolean = false
  override def excess(size: Long): Long = if (size >= count + slack) size - count else 0L
  override def firstStaying(head: Long, end: Long, at: Long): Long = head
}

private[window] object CountRule {

  /** The [[ChangeReason]] of rows that leave as soon as `slack` rows exceed the newest `count`.
    * If the newest row alone stays, it ends the batch of all rows before it, as
    * `KEEP EVERY n ROWS` does.
    */
  def reason(count: Long, slack: Long): Int =
    if (count == 1L && slack > 1L) ChangeReason.Trigger else ChangeReason.Displaced
}
