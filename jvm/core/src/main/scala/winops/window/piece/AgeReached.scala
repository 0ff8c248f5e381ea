package winops.window.piece

import winops.storage.rows.Rows
import winops.terms.{Span, Wording}
import winops.window.contents.WindowContext.Make
import winops.window.rules.{AgeRule, EvictionRule}

/** The rows that arrived `span` ago or earlier. */
final case class AgeReached(span: Span) extends AgeBound {
  override private[piece] def ageRule(rows: Rows): AgeRule = new AgeRule(span, rows)

  override def resizable(leave: Trigger): Option[Resizable] =
    Option.when(leave == WhenDue)(Resizable.ByAge)

  override def growth(before: Bound): Option[String] = before match {
    case AgeReached(shorter) if shorter.isExact && span.isExact && shorter.micros < span.micros =>
      Some("a group has the whole interval when its oldest row has the new age")
    case _ => None
  }

  override private[window] def takesKeys: Boolean = true

  override private[window] def rule(leave: Trigger): Option[Make[EvictionRule]] =
    Option.when(leave == WhenDue)(context => ageRule(context.rows))

  override def until: Seq[String] = Seq(s"it is ${Wording.length(span)} old")
  override protected def held(order: Order): String = s"each row for ${Wording.length(span)}"
}
