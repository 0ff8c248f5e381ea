package winops.policy

/** The triggers of a window.
  *
  * @param enter
  *   trigger at which waiting rows enter the window
  * @param leave
  *   trigger at which the window evicts the rows that exceed its bound
  * @param report
  *   trigger at which the window contents are reported
  */
final case class Triggers(enter: Trigger, leave: Trigger, report: Trigger) {

  /** Returns true if any of the triggers can fire because time passes. */
  def usesTime: Boolean = enter.usesTime || leave.usesTime || report.usesTime
}
