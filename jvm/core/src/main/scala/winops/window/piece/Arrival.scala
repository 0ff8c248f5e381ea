package winops.window.piece

import winops.terms.{Purpose, RowExpression}
import winops.window.contents.WindowContext.Make
import winops.window.rules.Part

/** By arrival, the oldest row first. */
case object Arrival extends Order {
  override def reads: Seq[(Purpose, RowExpression)] = Nil
  override def replaces: Boolean = false
  override def evictsOldestFirst: Boolean = true
  override def words: String = "the order of arrival"
  override def keptOf(admit: Admit): String = admit.words
  override def criteria: Option[String] = None
  override def clause(bound: Bound): Option[String] = None
  override private[window] def part(bound: Bound): Option[Make[Part]] = bound.part
  override private[window] def shadows: Option[Make[Shadows]] = Some(_ => null)
}
