package winops.window.event

import winops.policy.{Admit, Bound, Order, Trigger, Triggers, Window}
import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.storage.rows.Rows
import winops.window.changes.{ChangeKind, Steps}
import winops.window.expression.Evaluator
import winops.window.rules.AgeBound
import winops.window.single.{FrontRetainer, Retainer}
import winops.window.time.{Anchor, Clock}

/** A window that emits events: inserts, deletes, and the window contents at a trigger.
  *
  * Rows are evicted before the row that evicts them is inserted, except by a tumbling window by
  * count, which its last row empties. A trigger by value reports the contents without the row
  * that causes it.
  */
private[window] final class Events(
    eviction: Eviction,
    trigger: ReportTrigger,
    rows: Rows,
    steps: Steps)
    extends FrontRetainer(rows, steps) {

  /** True once the window has been full. */
  private var wasFull = false

  override def due: Long =
    if (size == 0) Clock.Never else Math.min(eviction.due(head), trigger.due)

  override def arrive(row: Long, at: Long): Boolean = {
    val comesIn = eviction.admits(row) && trigger.admits(row)
    if (comesIn) {
      val isFirst = head == row
      eviction.arrive(at)
      if (trigger.beforeRow(row)) tell(ChangeKind.Trigger, head, row)
      if (eviction.fillsBeforeRow(head, row)) fill(head, row)
      leaveUntil(eviction.beforeRow(head, row), row)
      steps.insert(row, row + 1)
      if (eviction.fillsWithRow(row + 1 - head)) fill(head, row + 1)
      if (trigger.afterRow(at, isFirst)) tell(ChangeKind.Trigger, head, row + 1)
      if (eviction.emptiesWithRow(row + 1 - head)) removeUntil(row + 1)
    }
    comesIn
  }

  /** Evicts expired rows first; the remaining contents are reported in a step of its own. */
  override def atDue(due: Long): Unit =
    if (eviction.due(head) <= due) removeUntil(eviction.atDue(head, due))
    else {
      steps.report(ChangeKind.Trigger, head, rows.end)
      trigger.fired(due)
    }

  override def punctuate(): Unit = if (eviction.emptiesWithPunctuation) removeUntil(rows.end)

  override def clear(): Unit = {
    super.clear()
    wasFull = false
    eviction.clear()
    trigger.clear()
  }

  override def save(out: ByteWriter): Unit = {
    out.byte(if (wasFull) 1 else 0)
    eviction.save(out)
    trigger.save(out)
  }

  override def restore(in: ByteReader): Unit = {
    super.restore(in)
    wasFull = in.byte() == 1
    eviction.restore(in)
    trigger.restore(in)
  }

  private def leaveUntil(until: Long, row: Long): Unit =
    if (until > head) removeUntil(Math.min(until, row))

  private def fill(from: Long, until: Long): Unit = if (!wasFull) {
    wasFull = true
    steps.report(ChangeKind.InitialFull, from, until)
  }

  private def tell(kind: Int, from: Long, until: Long): Unit =
    if (from < until) steps.report(kind, from, until)
}

private[window] object Events {
  def of(window: Window, rows: Rows, evaluator: Evaluator, steps: Steps): Option[Retainer] =
    window match {
      case Window(Admit.All, Order.Arrival, bound, Triggers(Trigger.EachRow, leave, report)) =>
        for {
          eviction <- evictionOf(bound, leave, rows, evaluator)
          trigger <- triggerOf(report, evaluator)
        } yield new Events(eviction, trigger, rows, steps)
      case _ => None
    }

  private def evictionOf(
      bound: Bound,
      leave: Trigger,
      rows: Rows,
      evaluator: Evaluator): Option[Eviction] = (bound, leave) match {
    case (Bound.Everything, Trigger.EachRows(count)) => Some(new TumblingRows(count))
    case (Bound.Everything, Trigger.Period(span, origin, false)) =>
      Some(new TumblingPeriod(span, new Anchor(origin), rows))
    case (Bound.Everything, Trigger.Exceeds(value, distance)) =>
      Some(new TumblingValue(new Gap(evaluator.number(value), distance)))
    case (Bound.Everything, Trigger.Punctuation) => Some(TumblingPunctuation)
    case (Bound.MoreThan(count), Trigger.EachRow) => Some(new SlidingRows(count))
    case (Bound.AgeExceeded(span), Trigger.WhenDue) =>
      Some(new SlidingTime(AgeBound.exceeded(span, rows), rows))
    case (Bound.ValueBehind(value, distance), Trigger.EachRow) =>
      Some(new SlidingValue(new Gap(evaluator.number(value), distance)))
    case _ => None
  }

  private def triggerOf(report: Trigger, evaluator: Evaluator): Option[ReportTrigger] =
    report match {
      case Trigger.Never => Some(NoReportTrigger)
      case Trigger.EachRows(count) => Some(new CountReportTrigger(count))
      case Trigger.Period(span, origin, false) =>
        Some(new PeriodReportTrigger(span, new Anchor(origin)))
      case Trigger.Exceeds(value, distance) =>
        Some(new ValueReportTrigger(evaluator.number(value), distance))
      case _ => None
    }
}
