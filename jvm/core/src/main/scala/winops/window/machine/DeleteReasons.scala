package winops.window.machine

import winops.policy._
import winops.window.changes.ChangeReason
import winops.window.rules.CountRule

/** The reasons for which rows of a policy leave, as numbers of [[ChangeReason]]. */
object DeleteReasons {

  /** The reasons without those of an idle time that is given beside the policy's text. */
  def of(policy: Policy): Seq[Int] =
    (policy.retention.windows.flatMap(ofWindow) ++ policy.group.reclaim.flatMap(ofGroup)).distinct

  private def ofWindow(window: Window): Seq[Int] = {
    val ofOrder = window.order match {
      case Order.Replacing(_) | Order.Ranked(_, _) | Order.Shadowing(_) =>
        Seq(ChangeReason.Replaced)
      case _ => Nil
    }
    ofOrder ++ ofBound(window.bound, window.triggers.leave)
  }

  private def ofBound(bound: Bound, leave: Trigger): Seq[Int] = bound match {
    case Bound.Unbounded => Nil
    case Bound.MoreThan(count) =>
      leave match {
        case Trigger.Excess(slack) => Seq(CountRule.reason(count, slack))
        case _ => Seq(ChangeReason.Displaced)
      }
    case Bound.Fails(_) => Seq(ChangeReason.Condition)
    case Bound.ValueBehind(_, _) => Seq(ChangeReason.Distance)
    case Bound.Any(bounds) => bounds.flatMap(ofBound(_, leave))
    case Bound.PreviousBatch => Seq(ChangeReason.Trigger)
    case Bound.Everything =>
      leave match {
        case Trigger.Quiet(_) => Seq(ChangeReason.Silence)
        case Trigger.Punctuation => Seq(ChangeReason.Punctuation)
        case _ => Seq(ChangeReason.Trigger)
      }
    case _: Bound.AgeReached | _: Bound.AgeExceeded | _: Bound.TimestampBehind |
        _: Bound.DeadlineReached =>
      Seq(ChangeReason.Expired)
  }

  private def ofGroup(reclaim: Reclaim): Option[Int] = reclaim match {
    case Reclaim.Silent(_) => Some(ChangeReason.GroupIdle)
    case Reclaim.MoreGroupsThan(_) | Reclaim.MoreRowsThan(_) => Some(ChangeReason.GroupLimit)
    // The sweep of Esper's hints emits no deletes.
    case _: Reclaim.SweptAtArrival => None
  }
}
