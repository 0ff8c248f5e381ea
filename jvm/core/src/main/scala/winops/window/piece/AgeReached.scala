package winops.window.piece

import winops.storage.rows.Rows
import winops.terms.{Span, Wording}
import winops.window.changes.ChangeReason
import winops.window.contents.WindowContext.Make
import winops.window.rules.{AgeRule, EvictionRule}

/** The rows that arrived `span` ago or earlier. */
final case class AgeReached(span: Span) extends Bound {
  override def usesTime: Boolean = true
  override def evictsOldestFirst: Boolean = true
  override def evictsFromAll: Boolean = true
  override def looksAtEachRow: Boolean = true
  override def leavesAtOnce(leave: Trigger): Boolean = leave == WhenDue
  override def reasons(leave: Trigger): Seq[Int] = Seq(ChangeReason.Expired)

  override def resizable(leave: Trigger): Option[Resizable] =
    Option.when(leave == WhenDue)(Resizable.ByAge)

  override def growth(before: Bound): Option[String] = before match {
    case AgeReached(shorter) if shorter.isExact && span.isExact && shorter.micros < span.micros =>
      Some("a group has the whole interval when its oldest row has the new age")
    case _ => None
  }

  override private[window] def rule(leave: Trigger): Option[Make[EvictionRule]] =
    Option.when(leave == WhenDue)(context => new AgeRule(span, context.rows))

  override private[window] def ruleAtOnce: Option[Rows => EvictionRule] =
    Some(new AgeRule(span, _))

  override def until: Seq[String] = Seq(s"it is ${Wording.length(span)} old")
  override def whileEvicting: Option[String] = None
  override protected def held(order: Order): String = s"each row for ${Wording.length(span)}"
}
