package winops.window.piece

import winops.terms.{Purpose, RowExpression}
import winops.window.contents.WindowContext
import winops.window.rules.{NoRule, Part, RulePart}

/** Admits every row. */
case object EveryRow extends Admit {
  override def usesTime: Boolean = false
  override def reads: Seq[(Purpose, RowExpression)] = Nil
  override def words: String = "every row"
  override def clause: Option[String] = None

  override private[window] def part(context: WindowContext): Part =
    new RulePart(NoRule, context.held)
}
