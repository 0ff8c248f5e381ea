package winops.policy

import winops.window.piece.EveryRow

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
    else if (!policy.takesRowsAtOnce || windows.exists(_.admit != EveryRow)) {
      Some("a window that inserts every row when it arrives")
    } else if (windows.exists(_.refusesMissing)) {
      Some("a window that also inserts rows with a missing value")
    } else if (!policy.leavesFromFront) {
      Some("a window that evicts rows in the order of their arrival")
    } else None
  }
}
