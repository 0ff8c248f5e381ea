package winops.window.combination

import winops.policy._
import winops.storage.btree.{PagedMap, Pages}
import winops.storage.rows.Rows
import winops.window.batch.{BatchPart, BatchTrigger, ConditionBatchTrigger, CountBatchTrigger, PeriodBatchTrigger, PeriodOrCountBatchTrigger, TimestampBatchTrigger}
import winops.window.contents.HeldRows
import winops.window.expression.Evaluator
import winops.window.rules._
import winops.window.time.Anchor

/** Builds the parts of a combination of windows. A method returns None if no part implements a
  * window.
  */
private[window] final class Parts(rows: Rows, pages: Pages, evaluator: Evaluator) {
  val held = new HeldRows(rows)

  /** The parts of all windows, if each window has one. */
  def of(windows: Seq[Window], inUnion: Boolean): Option[Array[Part]] = {
    val parts = windows.map(part(_, inUnion))
    Option.when(parts.forall(_.isDefined))(parts.flatten.toArray)
  }

  /** The trigger of a batch window. */
  def triggerOf(window: Window): Option[BatchTrigger] = window match {
    case Window(
          Admit.All,
          Order.Arrival,
          Bound.PreviousBatch,
          Triggers(enter, leave, Trigger.Never)) if enter == leave =>
      enter match {
        case Trigger.EachRows(count) => Some(new CountBatchTrigger(count))
        case Trigger.Period(span, origin, forced) =>
          Some(new PeriodBatchTrigger(span, new Anchor(origin), forced))
        case Trigger.PeriodOrRows(span, count, origin, forced) =>
          Some(
            new PeriodOrCountBatchTrigger(span, count, origin.getOrElse(Origin.FirstRow), forced))
        case Trigger.Crosses(timestamp, span, reference) =>
          val origin = reference.fold[Origin](Origin.FirstRow)(Origin.At(_))
          Some(
            new TimestampBatchTrigger(evaluator.timestamp(timestamp), span, new Anchor(origin)))
        case Trigger.Holds(condition, withRow) =>
          Some(new ConditionBatchTrigger(evaluator.condition(condition), withRow, held))
        case _ => None
      }
    case _ => None
  }

  private def part(window: Window, inUnion: Boolean): Option[Part] = window match {
    case Window(admit, Order.Arrival, Bound.Unbounded, _) =>
      admit match {
        case Admit.All => Some(new AllPart(held))
        case Admit.First(count) => Some(new FirstRowsPart(count, held))
        case Admit.FirstFor(span, origin) =>
          Some(new FirstForPart(span, new Anchor(origin), held))
        case Admit.FirstOfEach(keys) => Some(new FirstOfEachPart(evaluator.key(keys), index))
      }
    case Window(Admit.All, Order.Arrival, bound, triggers) =>
      ofArrival(bound, triggers, window, inUnion)
    case Window(Admit.All, Order.Replacing(keys), Bound.Unbounded, _) => Some(newestOf(keys))
    case Window(Admit.All, Order.Sorted(by), Bound.MoreThan(count), _) => Some(best(by, count))
    case Window(Admit.All, Order.Ranked(keys, by), Bound.MoreThan(count), _) =>
      Some(new RankedPart(newestOf(keys), best(by, count)))
    case _ => None
  }

  private def ofArrival(
      bound: Bound,
      triggers: Triggers,
      window: Window,
      inUnion: Boolean): Option[Part] = bound match {
    case Bound.MoreThan(count) => Some(new NewestPart(count, held))
    case Bound.AgeReached(span) => Some(new YoungPart(span, held))
    case Bound.TimestampBehind(timestamp, span) =>
      Some(new BehindPart(evaluator.timestamp(timestamp), span, held))
    case Bound.DeadlineReached(timestamp, span) =>
      Some(new DeadlinePart(evaluator.timestamp(timestamp), span, index))
    case Bound.Fails(condition) =>
      Some(new ConditionPart(evaluator.condition(condition), held))
    case Bound.Everything =>
      triggers.leave match {
        case Trigger.Quiet(span) => Some(new QuietPart(span, held))
        case _ => None
      }
    case Bound.PreviousBatch if inUnion => triggerOf(window).map(new BatchPart(_, held))
    case _ => None
  }

  private def newestOf(keys: Seq[RowExpression]): NewestOfEachPart =
    new NewestOfEachPart(evaluator.key(keys), index)

  private def best(by: Seq[SortKey], count: Long): BestPart =
    new BestPart(count, evaluator.sortKey(by), index)

  private def index: PagedMap = pages.newMap()
}
