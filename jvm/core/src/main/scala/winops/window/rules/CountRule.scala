package winops.window.rules

/** Evicts the rows beyond the newest `count`, as soon as there are `slack` of them. */
private[window] final class CountRule(count: Long, slack: Long = 1L) extends EvictionRule {
  override def excess(size: Long): Long = if (size >= count + slack) size - count else 0L
  override def firstStaying(head: Long, end: Long, at: Long): Long = head
}
