package winops.window.retainer

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.storage.rows.Rows
import winops.window.changes.{ChangeQueue, ChangeReason}
import winops.window.rules.EvictionRule
import winops.window.time.Clock

/** A single window whose oldest rows leave by a rule. */
private[window] final class FrontWindow(rule: EvictionRule, rows: Rows, changes: ChangeQueue)
    extends FrontRetainer(rows, changes) {

  /** The row of [[dueOfHead]], which is read several times for each row that arrives. */
  private var dueRow = FrontWindow.Unknown
  private var dueOfHead = Clock.Never

  override def due: Long =
    // The head was stored when its time was computed, and leaves only when another row is the head.
    if (dueRow == head) dueOfHead
    else if (size == 0) Clock.Never
    else {
      dueOfHead = rule.due(head)
      dueRow = head
      dueOfHead
    }

  override def arrive(row: Long, at: Long): Boolean = {
    rule.arrive(at)
    changes.insert(row, row + 1, ChangeReason.Arrived)
    val excess = rule.excess(size)
    if (excess > 0) removeUntil(head + excess, rule.excessReason)
    true
  }

  override def atDue(due: Long): Unit =
    removeUntil(rule.firstStaying(head, rows.end, due), rule.reason)

  override def clear(): Unit = {
    super.clear()
    rule.clear()
    dueRow = FrontWindow.Unknown
  }

  override def save(out: ByteWriter): Unit = rule.save(out)

  override def restore(in: ByteReader): Unit = {
    super.restore(in)
    rule.restore(in)
    dueRow = FrontWindow.Unknown
  }
}

private object FrontWindow {
  private val Unknown = -1L
}
