package winops.window.piece

import winops.terms.{Purpose, RowExpression}
import winops.window.changes.ChangeReason

/** The instant at which a row expires. */
case object WhenDue extends Trigger {
  override def usesTime: Boolean = true
  override def firesAtPunctuation: Boolean = false
  override def reads: Seq[(Purpose, RowExpression)] = Nil
  override def reason: Int = ChangeReason.Trigger
  override def words: String = "when a row expires"
}
