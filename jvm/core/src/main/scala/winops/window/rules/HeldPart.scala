package winops.window.rules

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.contents.HeldRows
import winops.window.time.Clock

/** The only window over the rows of a group, whose oldest rows leave by a rule, while other rows
  * may leave in any order. It holds all rows of the group, so it stores nothing but its rule.
  */
private[window] final class HeldPart(rule: EvictionRule, held: HeldRows) extends Part {
  override def arrive(row: Long, at: Long, evicted: EvictedRows): Unit = {
    rule.arrive(at)
    var excess = rule.excess(held.size)
    if (excess > 0) {
      var oldest = held.from(0L)
      while (excess > 0) {
        evicted.add(oldest, rule.excessReason)
        oldest = held.next(oldest)
        excess -= 1
      }
    }
  }

  override def due: Long =
    if (!rule.usesTime || held.size == 0) Clock.Never else rule.due(held.from(0L))

  override def atDue(due: Long, evicted: EvictedRows): Unit = {
    var oldest = held.from(0L)
    while (oldest < held.end && rule.due(oldest) <= due) {
      evicted.add(oldest, rule.reason)
      oldest = held.next(oldest)
    }
  }

  override def update(row: Long, values: Long, evicted: EvictedRows): Unit = ()
  override def forget(row: Long): Unit = ()
  override def holds(row: Long): Boolean = true
  override def clear(): Unit = rule.clear()
  override def save(out: ByteWriter): Unit = rule.save(out)
  override def restore(in: ByteReader): Unit = rule.restore(in)
}
