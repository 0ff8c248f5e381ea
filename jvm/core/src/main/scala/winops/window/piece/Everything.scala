package winops.window.piece

import winops.terms.{Purpose, RowExpression}
import winops.window.contents.WindowContext.Make
import winops.window.rules.{ArrivalEviction, EvictionRule, Part}

/** Every row: at the leave trigger the window is emptied. */
case object Everything extends Bound {
  override def usesTime: Boolean = false
  override def reads: Seq[(Purpose, RowExpression)] = Nil
  override def evictsOldestFirst: Boolean = true
  override def evictsFromAll: Boolean = true
  override def looksAtEachRow: Boolean = false
  override def leavesAtOnce(leave: Trigger): Boolean = false
  override def reasons(leave: Trigger): Seq[Int] = Seq(leave.reason)
  override def resizable(leave: Trigger): Option[Resizable] = leave.resizable

  override private[window] def takesKeys: Boolean = true

  override private[window] def rule(leave: Trigger): Option[Make[EvictionRule]] =
    leave.emptyingRule

  override private[window] def partAt(
      enter: Trigger,
      leave: Trigger,
      inUnion: Boolean): Option[Make[Part]] = if (enter == EachRow) leave.emptyingPart else None

  override private[window] def events(
      leave: Trigger): Option[Make[(EvictionRule, ArrivalEviction)]] = leave.emptyingEvents

  override def until: Seq[String] = Seq("all rows are removed together")
  override def whileEvicting: Option[String] = None

  override def keeps(admit: Admit, order: Order, leave: Trigger): String =
    s"collects rows${sorted(order)} and removes all of them ${leave.wordsOfCollected}"

  override protected def leaves(leave: Trigger, order: Order): Option[String] = None
}
