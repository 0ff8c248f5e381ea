package winops.window.rules

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.contents.HeldRows
import winops.window.expression.WindowView

/** The only window over the rows of a group, which holds the newest `rows` rows, and the next
  * newest `buffer` rows behind it. If the window loses a row other than its oldest ones, the
  * newest row behind it returns.
  *
  * A row behind is older than every row of the window, so one ordinal divides them. Between
  * steps, there is no row behind a window of fewer than `rows` rows.
  *
  * @param slack
  *   number of rows that leave together, as soon as they exceed `rows`
  */
private[window] final class BufferedPart(rows: Long, slack: Long, buffer: Long, held: HeldRows)
    extends Part {
  private val rule = new CountRule(rows, slack)

  /** The ordinal before which rows are behind the window. */
  private var head = 0L

  /** Number of rows behind the window. */
  private var behind = 0L

  override def replaces(row: Long): Boolean = {
    val excess = rule.excess(held.size - behind)
    excess > 0 && behind + excess > buffer
  }

  override def arrive(row: Long, at: Long, evicted: EvictedRows): Unit = {
    val excess = rule.excess(held.size - behind)
    if (excess > 0) {
      var surplus = Math.max(0L, behind + excess - buffer)
      surplus -= dropOldest(Math.min(surplus, behind), evicted)
      moveBehind(excess, surplus, evicted)
    }
  }

  override def update(row: Long, values: Long, evicted: EvictedRows): Unit = ()
  override def forget(row: Long): Unit = if (isBehind(row)) behind -= 1
  override def isBehind(row: Long): Boolean = row < head

  override def refill(evicted: EvictedRows): Unit =
    while (behind > 0 && held.size - behind < rows) {
      val newest = held.lastFrom(head - 1)
      evicted.bringBack(newest)
      head = newest
      behind -= 1
    }

  override def holds(row: Long): Boolean = !isBehind(row)

  override def clear(): Unit = {
    head = 0L
    behind = 0L
  }

  override def save(out: ByteWriter): Unit = {
    out.number(head)
    out.number(behind)
  }

  override def restore(in: ByteReader): Unit = {
    head = in.count(held.end)
    behind = in.count(held.end)
  }

  /** Drops the oldest `count` rows behind the window, and returns their number. */
  private def dropOldest(count: Long, evicted: EvictedRows): Long = {
    var row = if (count > 0) held.from(0L) else WindowView.NoRow
    var dropped = 0L
    while (dropped < count) {
      evicted.drop(row)
      row = held.next(row)
      dropped += 1
    }
    behind -= count
    count
  }

  /** Evicts the oldest `count` rows, of which the first `leaving` do not stay behind. */
  private def moveBehind(count: Long, leaving: Long, evicted: EvictedRows): Unit = {
    var row = held.from(head)
    var moved = 0L
    while (moved < count) {
      if (moved < leaving) evicted.add(row, rule.excessReason)
      else evicted.addBehind(row, rule.excessReason)
      row = held.next(row)
      moved += 1
    }
    behind += count - leaving
    head = row
  }
}
