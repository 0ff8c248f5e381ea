package winops.window.piece

import winops.storage.rows.Rows
import winops.terms.{Purpose, RowExpression}
import winops.window.contents.WindowContext.Make
import winops.window.rules.{EvictionRule, NoRule}

/** No row ever exceeds the window. */
case object Unbounded extends Bound {
  override def usesTime: Boolean = false
  override def reads: Seq[(Purpose, RowExpression)] = Nil
  override def evictsOldestFirst: Boolean = true
  override def evictsFromAll: Boolean = true
  override def looksAtEachRow: Boolean = true
  override def leavesAtOnce(leave: Trigger): Boolean = leave == Never || leave == EachRow
  override def reasons(leave: Trigger): Seq[Int] = Nil

  override def resizable(leave: Trigger): Option[Resizable] =
    Option.when(leave == Never)(Resizable.ByRows)

  override def growth(before: Bound): Option[String] = before match {
    case count: MoreThan => Some(count.fills)
    case _ => None
  }

  override private[window] def takesKeys: Boolean = true

  override private[window] def rule(leave: Trigger): Option[Make[EvictionRule]] =
    Option.when(leave == Never)(_ => NoRule)

  override private[window] def ruleAtOnce: Option[Rows => EvictionRule] = Some(_ => NoRule)
  override def until: Seq[String] = Nil
  override def whileEvicting: Option[String] = None
  override def keeps(admit: Admit, order: Order, leave: Trigger): String =
    s"keeps ${order.keptOf(admit)}"
  override protected def leaves(leave: Trigger, order: Order): Option[String] = None
}
