package winops.window.piece

import winops.terms.{Purpose, RowExpression}
import winops.window.changes.ChangeReason
import winops.window.contents.WindowContext.Make
import winops.window.rules.ReportTrigger

/** No event: the trigger never fires. */
case object Never extends Trigger {
  override def usesTime: Boolean = false
  override def firesAtPunctuation: Boolean = false
  override def reads: Seq[(Purpose, RowExpression)] = Nil
  override def reason: Int = ChangeReason.Trigger
  override def words: String = "never"
  override private[window] def report: Option[Make[ReportTrigger]] = Some(_ => NoReportTrigger)
}

/** Never reports the contents. */
private case object NoReportTrigger extends ReportTrigger
