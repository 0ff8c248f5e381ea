package winops.window.combination

import winops.policy._
import winops.window.batch.{BatchPart, BatchTrigger, ConditionBatchTrigger, CountBatchTrigger, PeriodBatchTrigger, PeriodOrCountBatchTrigger, TimestampBatchTrigger}
import winops.window.contents.WindowContext
import winops.window.rules._
import winops.window.time.Anchor

/** Chooses the parts of a combination of windows. A method returns None if no part implements a
  * window.
  */
private[window] object Parts {

  /** The maker of a window's part. */
  def of(window: Window, inUnion: Boolean): Option[WindowContext => Part] = window match {
    case Window(_, _, Bound.PreviousBatch, _) =>
      triggerOf(window).filter(_ => inUnion).map { trigger => (context: WindowContext) =>
        new BatchPart(trigger(context), context.held)
      }
    case Window(Admit.All, Order.Arrival, Bound.Everything, triggers) =>
      triggers match {
        case Triggers(Trigger.EachRow, Trigger.Quiet(span), Trigger.Never) =>
          Some(context => new QuietPart(span, context.held))
        case _ => None
      }
    case Window(admit, order, bound, _) if window.changesAtOnce =>
      (admit, order) match {
        case (Admit.All, Order.Arrival) => ofArrival(bound)
        case (Admit.All, _) => ofOrder(order, bound)
        case (_, Order.Arrival) if bound == Bound.Unbounded => Some(ofAdmit(admit, _))
        case _ => None
      }
    case _ => None
  }

  /** The maker of a batch window's trigger. */
  def triggerOf(window: Window): Option[WindowContext => BatchTrigger] = window match {
    case Window(
          Admit.All,
          Order.Arrival,
          Bound.PreviousBatch,
          Triggers(enter, leave, Trigger.Never)) if enter == leave =>
      enter match {
        case Trigger.EachRows(count) => Some(_ => new CountBatchTrigger(count))
        case Trigger.Period(span, origin, forced) =>
          Some(_ => new PeriodBatchTrigger(span, new Anchor(origin), forced))
        case Trigger.PeriodOrRows(span, count, origin, forced) =>
          val from = origin.getOrElse(Origin.FirstRow)
          Some(_ => new PeriodOrCountBatchTrigger(span, count, from, forced))
        case Trigger.Crosses(timestamp, span, reference) =>
          val origin = reference.fold[Origin](Origin.FirstRow)(Origin.At(_))
          Some { context =>
            val number = context.evaluator.timestamp(timestamp)
            new TimestampBatchTrigger(number, span, new Anchor(origin))
          }
        case Trigger.Holds(condition, withRow) =>
          Some { context =>
            val holds = context.evaluator.condition(condition)
            new ConditionBatchTrigger(holds, withRow, context.held)
          }
        case _ => None
      }
    case _ => None
  }

  private def ofAdmit(admit: Admit, context: WindowContext): Part = admit match {
    case Admit.All => new AllPart(context.held)
    case Admit.First(count) => new FirstRowsPart(count, context.held)
    case Admit.FirstFor(span, origin) => new FirstForPart(span, new Anchor(origin), context.held)
    case Admit.FirstOfEach(keys) =>
      new FirstOfEachPart(context.evaluator.key(keys), context.newIndex())
  }

  private def ofArrival(bound: Bound): Option[WindowContext => Part] = bound match {
    case Bound.Unbounded => Some(ofAdmit(Admit.All, _))
    case Bound.MoreThan(count) =>
      Some(context => new NewestPart(new CountRule(count), context.held))
    case Bound.AgeReached(span) =>
      Some(context => new YoungPart(new AgeRule(span, context.rows), context.held))
    case Bound.TimestampBehind(timestamp, span) =>
      Some(context => new BehindPart(context.evaluator.timestamp(timestamp), span, context.held))
    case Bound.DeadlineReached(timestamp, span) =>
      Some { context =>
        new DeadlinePart(context.evaluator.timestamp(timestamp), span, context.newIndex())
      }
    case Bound.Fails(condition) =>
      Some(context => new ConditionPart(context.evaluator.condition(condition), context.held))
    case _ => None
  }

  private def ofOrder(order: Order, bound: Bound): Option[WindowContext => Part] =
    (order, bound) match {
      case (Order.Replacing(keys), Bound.Unbounded) => Some(newestOf(keys, _))
      case (Order.Sorted(by), Bound.MoreThan(count)) => Some(best(by, count, _))
      case (Order.Ranked(keys, by), Bound.MoreThan(count)) =>
        Some(context => new RankedPart(newestOf(keys, context), best(by, count, context)))
      case _ => None
    }

  private def newestOf(keys: Seq[RowExpression], context: WindowContext): NewestOfEachPart =
    new NewestOfEachPart(context.evaluator.key(keys), context.newIndex())

  private def best(by: Seq[SortKey], count: Long, context: WindowContext): BestPart =
    new BestPart(count, context.evaluator.sortKey(by), context.newIndex())
}
