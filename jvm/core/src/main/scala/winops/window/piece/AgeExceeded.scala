package winops.window.piece

import winops.storage.rows.Rows
import winops.terms.{Span, Wording}
import winops.window.changes.ChangeReason
import winops.window.contents.WindowContext.Make
import winops.window.rules.{AgeRule, ArrivalEviction, EvictionRule}

/** The rows that arrived more than `span` ago. */
final case class AgeExceeded(span: Span) extends Bound {
  override def usesTime: Boolean = true
  override def evictsOldestFirst: Boolean = true
  override def evictsFromAll: Boolean = true
  override def looksAtEachRow: Boolean = true
  override def leavesAtOnce(leave: Trigger): Boolean = leave == WhenDue
  override def reasons(leave: Trigger): Seq[Int] = Seq(ChangeReason.Expired)

  override private[window] def ruleAtOnce: Option[Rows => EvictionRule] =
    Some(AgeRule.exceeded(span, _))

  override private[window] def events(
      leave: Trigger): Option[Make[(EvictionRule, ArrivalEviction)]] =
    Option.when(leave == WhenDue) { context =>
      (AgeRule.exceeded(span, context.rows), FullFromStart)
    }

  override def until: Seq[String] = Seq(s"it is more than ${Wording.length(span)} old")
  override def whileEvicting: Option[String] = None
}

/** Evicts no row. The window counts as full before its first row. */
private case object FullFromStart extends ArrivalEviction {
  override def fillsBeforeRow(head: Long, row: Long): Boolean = true
}
