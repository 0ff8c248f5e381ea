package winops.window.machine

import winops.policy._

/** Decides which policies can be independent windows over rows that are stored once. */
object Sharing {

  /** The property that a policy lacks to share its rows with others; None if the policy can
    * share.
    */
  def expected(policy: Policy): Option[String] = {
    val windows = policy.retention.windows
    if (policy.filter.isDefined) Some("a policy without a filter")
    else if (policy.projection.isDefined) Some("a policy that selects rows, not values")
    else if (policy.group.reclaim.isDefined) Some("a policy without a clause that removes groups")
    else if (!policy.takesRowsAtOnce || windows.exists(_.admit != Admit.All)) {
      Some("a window that inserts every row when it arrives")
    } else if (windows.exists(refuses)) {
      Some("a window that also inserts rows with a missing value")
    } else if (!Machine.leavesFromFront(policy)) {
      Some("a window that evicts rows in the order of their arrival")
    } else None
  }

  /** Returns true if the window may refuse a row because the row lacks a value that the window
    * reads.
    */
  private def refuses(window: Window): Boolean =
    refuses(window.bound) || Seq(window.triggers.leave, window.triggers.report).exists {
      case _: Trigger.Exceeds | _: Trigger.Crosses => true
      case _ => false
    }

  private def refuses(bound: Bound): Boolean = bound match {
    case _: Bound.TimestampBehind | _: Bound.ValueBehind | _: Bound.DeadlineReached => true
    case Bound.Any(bounds) => bounds.exists(refuses)
    case _ => false
  }
}
