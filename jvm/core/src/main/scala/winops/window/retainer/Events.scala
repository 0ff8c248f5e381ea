package winops.window.retainer

import winops.policy.Window
import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.storage.rows.Rows
import winops.window.changes.{ChangeKind, ChangeQueue, ChangeReason}
import winops.window.contents.WindowContext.Make
import winops.window.piece.{Arrival, EachRow, EveryRow, Triggers}
import winops.window.rules.{ArrivalEviction, EvictionRule, ReportTrigger}
import winops.window.time.Clock

/** A window that emits events: inserts, deletes, and the window contents at a trigger.
  *
  * Rows are evicted before the row that evicts them is inserted, except by a tumbling window by
  * count, which its last row empties. A trigger by value reports the contents without the row
  * that causes it.
  *
  * @param rule
  *   the rule by which timers evict rows
  * @param eviction
  *   the evictions that rows and punctuations cause
  */
private[window] final class Events(
    rule: EvictionRule,
    eviction: ArrivalEviction,
    trigger: ReportTrigger,
    rows: Rows,
    changes: ChangeQueue)
    extends FrontRetainer(rows, changes) {

  /** True once the window has been full. */
  private var wasFull = false

  override def due: Long =
    if (size == 0) Clock.Never else Math.min(rule.due(head), trigger.due)

  override def arrive(row: Long, at: Long): Boolean = {
    val comesIn = eviction.admits(row) && trigger.admits(row)
    if (comesIn) {
      val isFirst = head == row
      rule.arrive(at)
      if (trigger.beforeRow(row)) emit(ChangeKind.Trigger, head, row)
      if (eviction.fillsBeforeRow(head, row)) fill(head, row)
      leaveUntil(eviction.beforeRow(head, row), row, eviction.reason)
      changes.insert(row, row + 1, ChangeReason.Arrived)
      if (eviction.fillsWithRow(row + 1 - head)) fill(head, row + 1)
      if (trigger.afterRow(at, isFirst)) emit(ChangeKind.Trigger, head, row + 1)
      leaveUntil(head + eviction.afterRow(row + 1 - head), row + 1, eviction.reason)
    }
    comesIn
  }

  /** Evicts expired rows first; the remaining contents are reported in a step of its own. */
  override def atDue(due: Long): Unit =
    if (rule.due(head) <= due) removeUntil(rule.firstStaying(head, rows.end, due), rule.reason)
    else {
      changes.report(ChangeKind.Trigger, head, rows.end)
      trigger.fired(due)
    }

  override def skipReports(until: Long): Long =
    if (size == 0) 0L else trigger.skip(Math.min(until, rule.due(head) - 1))

  override def punctuate(): Unit =
    if (eviction.emptiesWithPunctuation) removeUntil(rows.end, eviction.reason)

  override def clear(): Unit = {
    super.clear()
    wasFull = false
    rule.clear()
    trigger.clear()
  }

  override def save(out: ByteWriter): Unit = {
    out.byte(if (wasFull) 1 else 0)
    rule.save(out)
    trigger.save(out)
  }

  override def restore(in: ByteReader): Unit = {
    super.restore(in)
    wasFull = in.byte() == 1
    rule.restore(in)
    trigger.restore(in)
  }

  private def leaveUntil(until: Long, end: Long, reason: Int): Unit =
    if (until > head) removeUntil(Math.min(until, end), reason)

  private def fill(from: Long, until: Long): Unit = if (!wasFull) {
    wasFull = true
    changes.report(ChangeKind.InitialFull, from, until)
  }

  private def emit(kind: Int, from: Long, until: Long): Unit =
    if (from < until) changes.report(kind, from, until)
}

private[window] object Events {

  /** The maker of a window that emits events; None if the pieces make no such window. */
  def of(window: Window): Option[Make[Retainer]] = {
    val Window(admit, order, bound, Triggers(enter, leave, reported)) = window
    for {
      rules <- bound.events(leave)
      trigger <- reported.report
      if admit == EveryRow && order == Arrival && enter == EachRow
    } yield context => {
      val (rule, eviction) = rules(context)
      new Events(rule, eviction, trigger(context), context.rows, context.changes)
    }
  }
}
