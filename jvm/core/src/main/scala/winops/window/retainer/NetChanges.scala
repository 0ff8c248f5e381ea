package winops.window.retainer

import winops.policy.Window
import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.storage.rows.Rows
import winops.window.changes.{ChangeQueue, ChangeReason}
import winops.window.contents.WindowContext.Make
import winops.window.piece.{EachRow, EveryRow, Never, Shadows, Triggers}
import winops.window.rules.{EvictionRule, NetTrigger}
import winops.window.time.Clock

/** Emits the difference between the window contents before a step and after it: a row that enters
  * and leaves in the same step is neither inserted nor deleted.
  *
  * The window holds the rows from `head` until `entered`; the rows from `entered` on are pending
  * until the next trigger.
  *
  * @param shadows
  *   the visible row of each key if rows shadow older rows of the same key, else null
  */
private[window] final class NetChanges(
    rule: EvictionRule,
    trigger: NetTrigger,
    shadows: Shadows,
    rows: Rows,
    changes: ChangeQueue)
    extends FrontRetainer(rows, changes) {
  private var entered = rows.end

  override def due: Long = {
    val enter = if (entered < rows.end) trigger.after(rows.arrival(entered)) else Clock.Never
    val leave = if (head < entered) rule.due(head) else Clock.Never
    if (leave == Clock.Never) enter else Math.min(enter, trigger.at(leave))
  }

  override def arrive(row: Long, at: Long): Boolean = {
    trigger.arrive(at)
    if (trigger.entersAt(at, rows.end - entered)) change(at)
    true
  }

  override def atDue(due: Long): Unit = change(due)

  override def notInserted: Long = rows.end - entered
  override def emitContents(): Unit = emitSeen(changes.content)
  override def report(kind: Int): Unit = changes.report(kind, head, entered)

  override def leaveAll(reason: Int): Unit = {
    emitSeen(changes.deleteGroup(_, _, reason))
    head = rows.end
    entered = rows.end
  }

  override def clear(): Unit = {
    super.clear()
    entered = rows.end
    trigger.clear()
    if (shadows != null) shadows.clear()
  }

  override def save(out: ByteWriter): Unit = {
    out.number(entered)
    trigger.save(out)
    if (shadows != null) shadows.save(out)
  }

  override def restore(in: ByteReader): Unit = {
    super.restore(in)
    entered = Math.max(head, in.count(rows.end))
    trigger.restore(in)
    if (shadows != null) shadows.restore(in)
  }

  /** Inserts all pending rows, and deletes the rows that the rule then evicts. A row that has
    * expired and is one too many counts as displaced.
    */
  private def change(at: Long): Unit = {
    val (before, end) = (entered, rows.end)
    val displaced = head + rule.excess(end - head)
    val staying = rule.firstStaying(displaced, end, at)
    val firstInserted = Math.max(before, staying)
    val inserted =
      if (shadows == null) {
        changes.insert(firstInserted, end, trigger.reason)
        val firstExpired = Math.min(displaced, before)
        changes.delete(head, firstExpired, ChangeReason.Displaced)
        changes.delete(firstExpired, Math.min(staying, before), ChangeReason.Expired)
        end - firstInserted
      } else shadows.change(head, before, displaced, staying, end, trigger.reason, changes)
    changes.evictSilently(end - before - inserted)
    entered = end
    head = staying
  }

  private def emitSeen(emit: (Long, Long) => Unit): Unit =
    if (shadows == null) emit(head, entered)
    else {
      var row = head
      while (row < entered) {
        if (shadows.isSeen(row)) emit(row, row + 1)
        row += 1
      }
    }
}

private[window] object NetChanges {

  /** The maker of a window that emits net changes; None if the pieces make no such window. */
  def of(window: Window): Option[Make[Retainer]] = {
    val Window(admit, order, bound, Triggers(enter, leave, report)) = window
    val isTogether = enter != EachRow && enter == leave && report == Never
    for {
      rule <- bound.ruleAtOnce
      trigger <- enter.net
      shadows <- order.shadows
      if admit == EveryRow && (isTogether || window.changesAtOnce)
    } yield context =>
      new NetChanges(
        rule(context.rows),
        trigger(),
        shadows(context),
        context.rows,
        context.changes)
  }
}
