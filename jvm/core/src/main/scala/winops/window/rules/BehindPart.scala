package winops.window.rules

import winops.policy.Span
import winops.window.changes.ChangeReason
import winops.window.contents.HeldRows
import winops.window.expression.RowNumber

/** Evicts the oldest rows whose timestamps are at least `span` before the arriving row's. The
  * arriving row itself leaves at once only if the span is empty.
  */
private[window] final class BehindPart(timestamp: RowNumber, span: Span, held: HeldRows)
    extends FrontPart(held) {
  override def lacksValue(row: Long): Boolean = timestamp.isMissing(row)

  override def arrive(row: Long, at: Long, evicted: EvictedRows): Unit = {
    super.arrive(row, at, evicted)
    val limit = span.before(timestamp.whole(row))
    val least = if (span.isEmpty) 0L else 1L
    while (count > least && timestamp.whole(oldest) <= limit)
      evictOldest(evicted, ChangeReason.Expired)
  }
}
