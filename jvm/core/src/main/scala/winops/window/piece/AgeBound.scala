package winops.window.piece

import winops.storage.rows.Rows
import winops.terms.{Purpose, RowExpression}
import winops.window.changes.ChangeReason
import winops.window.rules.{AgeRule, EvictionRule}

/** The rows of an age. */
abstract class AgeBound extends Bound {

  /** The rule by which the rows of a group exceed the bound. */
  private[piece] def ageRule(rows: Rows): AgeRule

  override def usesTime: Boolean = true
  override def reads: Seq[(Purpose, RowExpression)] = Nil
  override def evictsOldestFirst: Boolean = true
  override def evictsFromAll: Boolean = true
  override def looksAtEachRow: Boolean = true
  override def leavesAtOnce(leave: Trigger): Boolean = leave == WhenDue
  override def reasons(leave: Trigger): Seq[Int] = Seq(ChangeReason.Expired)
  override private[window] def ruleAtOnce: Option[Rows => EvictionRule] = Some(ageRule)
  override def whileEvicting: Option[String] = None
}
