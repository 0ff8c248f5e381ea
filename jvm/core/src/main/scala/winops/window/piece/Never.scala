package winops.window.piece

import winops.window.changes.ChangeReason
import winops.window.contents.WindowContext.Make
import winops.window.rules.ReportTrigger

/** No event: the trigger never fires. */
case object Never extends Trigger {
  override def usesTime: Boolean = false
  override def reason: Int = ChangeReason.Trigger
  override def words: String = "never"
  override private[window] def report: Option[Make[ReportTrigger]] = Some(_ => NoReportTrigger)
}

/** Never reports the contents. */
private case object NoReportTrigger extends ReportTrigger
