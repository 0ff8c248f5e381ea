package winops.window.piece

import winops.storage.rows.Rows
import winops.terms.{Span, Wording}
import winops.window.contents.WindowContext.Make
import winops.window.rules.{AgeRule, ArrivalEviction, EvictionRule}

/** The rows that arrived more than `span` ago. */
final case class AgeExceeded(span: Span) extends AgeBound {
  override private[piece] def ageRule(rows: Rows): AgeRule = AgeRule.exceeded(span, rows)
  override def resizable(leave: Trigger): Option[Resizable] = None

  override private[window] def events(
      leave: Trigger): Option[Make[(EvictionRule, ArrivalEviction)]] =
    Option.when(leave == WhenDue)(context => (ageRule(context.rows), FullFromStart))

  override def until: Seq[String] = Seq(s"it is more than ${Wording.length(span)} old")
}

/** Evicts no row. The window counts as full before its first row. */
private case object FullFromStart extends ArrivalEviction {
  override def fillsBeforeRow(head: Long, row: Long): Boolean = true
}
