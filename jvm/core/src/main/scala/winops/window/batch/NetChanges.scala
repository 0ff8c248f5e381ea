package winops.window.batch

import winops.policy.{Admit, Order, Trigger, Triggers, Window}
import winops.storage.btree.Pages
import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.storage.rows.Rows
import winops.window.changes.Steps
import winops.window.expression.Evaluator
import winops.window.rules.FrontBound
import winops.window.single.{FrontRetainer, Retainer}
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
    bound: FrontBound,
    trigger: NetTrigger,
    shadows: Shadows,
    rows: Rows,
    steps: Steps)
    extends FrontRetainer(rows, steps) {
  private var entered = rows.end

  override def due: Long = {
    val enter = if (entered < rows.end) trigger.after(rows.arrival(entered)) else Clock.Never
    val leave = if (head < entered) bound.due(head) else Clock.Never
    if (leave == Clock.Never) enter else Math.min(enter, trigger.at(leave))
  }

  override def arrive(row: Long, at: Long): Boolean = {
    trigger.arrive(at)
    if (trigger.entersAt(at, rows.end - entered)) change(at)
    true
  }

  override def atDue(due: Long): Unit = change(due)

  override def notInserted: Long = rows.end - entered
  override def emitContents(): Unit = emitSeen(steps.content)
  override def report(kind: Int): Unit = steps.report(kind, head, entered)

  override def leaveAll(): Unit = {
    emitSeen(steps.deleteGroup)
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

  /** Inserts all pending rows, and deletes the rows that then exceed the bound. */
  private def change(at: Long): Unit = {
    val (before, end) = (entered, rows.end)
    val staying = bound.firstStaying(head, end, at)
    val firstInserted = Math.max(before, staying)
    val inserted =
      if (shadows == null) {
        steps.insert(firstInserted, end)
        steps.delete(head, Math.min(staying, before))
        end - firstInserted
      } else shadows.change(head, before, staying, end, steps)
    steps.evictSilently(end - before - inserted)
    entered = end
    head = staying
  }

  private def emitSeen(tell: (Long, Long) => Unit): Unit =
    if (shadows == null) tell(head, entered)
    else {
      var row = head
      while (row < entered) {
        if (shadows.isSeen(row)) tell(row, row + 1)
        row += 1
      }
    }
}

/** Makes windows that emit net changes. */
private[window] object NetChanges {
  def of(
      window: Window,
      rows: Rows,
      pages: Pages,
      evaluator: Evaluator,
      steps: Steps): Option[Retainer] = window match {
    case Window(Admit.All, order, bound, Triggers(enter, leave, Trigger.Never))
        if enter == Trigger.EachRow || enter == leave =>
      for {
        front <- FrontBound.of(bound, rows)
        trigger <- NetTrigger.of(enter)
        shadows <- order match {
          case Order.Arrival => Some(null)
          case Order.Shadowing(keys) =>
            Some(new Shadows(evaluator.key(keys), pages.newMap()))
          case _ => None
        }
      } yield new NetChanges(front, trigger, shadows, rows, steps)
    case _ => None
  }
}
