package winops.policy

/** When rows enter the window, when the bound is applied to it, when its content is reported. */
final case class Triggers(enter: Trigger, leave: Trigger, report: Trigger) {
  def usesTime: Boolean = enter.usesTime || leave.usesTime || report.usesTime
}
