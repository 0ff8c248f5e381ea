package winops.window.machine

import winops.policy._
import winops.storage.btree.Pages
import winops.storage.rows.Rows
import winops.window.batch.{Batching, NetChanges}
import winops.window.changes.Steps
import winops.window.combination.{Combination, IndependentWindows, Parts, SharingWindow}
import winops.window.contents.SharedRows
import winops.window.event.Events
import winops.window.expression.Evaluator
import winops.window.single.{KeepingAll, KeepingNewest, KeepingUntilPeriod, KeepingYoung, Retainer}
import winops.window.time.Anchor

/** Builds the retainer of a policy; fails for a combination that no retainer implements. */
private[window] object Retainers {
  def of(
      policy: Policy,
      rows: Rows,
      pages: Pages,
      evaluator: Evaluator,
      steps: Steps): Retainer = {
    val parts = new Parts(rows, pages, evaluator)
    (policy.retention, policy.stream.order) match {
      case (Retention.Independent(named), _) =>
        val each = named.map { case (_, retention) =>
          val shared = new SharedRows(rows)
          val alone = policy.copy(retention = retention)
          new SharingWindow(shared, of(alone, shared, pages, evaluator, steps))
        }
        new IndependentWindows(each.toArray, rows, steps)
      case (Retention.One(window), StepOrder.Events) =>
        Events.of(window, rows, evaluator, steps).getOrElse(refused(policy))
      case (Retention.One(window), order) =>
        simple(window, rows, steps)
          .orElse(if (order == StepOrder.Net) NetChanges.of(window, rows, pages, evaluator, steps)
          else None)
          .orElse(several(Seq(window), isUnion = false, parts, steps))
          .getOrElse(refused(policy))
      case (Retention.Intersection(windows), StepOrder.InsertsFirst) =>
        several(windows, isUnion = false, parts, steps).getOrElse(refused(policy))
      case (Retention.Union(windows), StepOrder.InsertsFirst) =>
        several(windows, isUnion = true, parts, steps).getOrElse(refused(policy))
      case _ => refused(policy)
    }
  }

  /** Returns true if rows of the policy may leave in any order. */
  def leavesHoles(policy: Policy): Boolean = policy.retention match {
    case Retention.One(window) => !leavesFromFront(window)
    case Retention.Independent(parts) =>
      parts.exists(part => leavesHoles(policy.copy(retention = part._2)))
    // A row that one window did not admit may leave before rows that this window holds.
    case Retention.Union(windows) =>
      !windows.forall(w => leavesFromFront(w) && w.admit == Admit.All)
    // A condition evicts rows from its own window alone, and a batch leaves between rows that
    // others hold.
    case Retention.Intersection(windows) =>
      !windows.forall(w => leavesFromFront(w) && !isBatch(w) && !isConditional(w))
  }

  private def leavesFromFront(window: Window): Boolean = window match {
    case Window(_, Order.Arrival | Order.Shadowing(_), bound, _) =>
      bound match {
        case _: Bound.DeadlineReached => false
        case _ => true
      }
    case _ => false
  }

  private def isBatch(window: Window): Boolean = window.bound == Bound.PreviousBatch

  private def isConditional(window: Window): Boolean = window.bound match {
    case _: Bound.Fails => true
    case _ => false
  }

  private def simple(window: Window, rows: Rows, steps: Steps): Option[Retainer] =
    window match {
      case Window(
            Admit.All,
            Order.Arrival,
            bound,
            Triggers(Trigger.EachRow, leave, Trigger.Never)) =>
        (bound, leave) match {
          case (Bound.Unbounded, Trigger.Never) => Some(new KeepingAll(rows, steps))
          case (Bound.MoreThan(count), Trigger.Excess(excess)) =>
            Some(new KeepingNewest(count, excess, rows, steps))
          case (Bound.AgeReached(span), Trigger.WhenDue) =>
            Some(new KeepingYoung(span, rows, steps))
          case (Bound.Everything, Trigger.Period(span, origin, false)) =>
            Some(new KeepingUntilPeriod(span, new Anchor(origin), rows, steps))
          case _ => None
        }
      case _ => None
    }

  private def several(
      windows: Seq[Window],
      isUnion: Boolean,
      parts: Parts,
      steps: Steps): Option[Retainer] = {
    val (batches, filters) = windows.partition(isBatch)
    if (isUnion)
      parts.of(windows, inUnion = true).map(new Combination(_, true, parts.held, steps))
    else if (batches.isEmpty) {
      parts.of(windows, inUnion = false).map(new Combination(_, false, parts.held, steps))
    } else if (batches.size == 1) {
      for {
        trigger <- parts.triggerOf(batches.head)
        others <- parts.of(filters, inUnion = false)
      } yield new Batching(others, windows.indexWhere(isBatch), trigger, parts.held, steps)
    } else None
  }

  private def refused(what: Any): Nothing =
    throw new IllegalArgumentException(s"no window has the pieces $what")
}
