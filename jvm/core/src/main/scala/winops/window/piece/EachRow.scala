package winops.window.piece

import winops.terms.{Purpose, RowExpression}
import winops.window.changes.ChangeReason
import winops.window.rules.NetTrigger

/** The arrival of each row. */
case object EachRow extends Trigger {
  override def usesTime: Boolean = false
  override def firesAtPunctuation: Boolean = false
  override def reads: Seq[(Purpose, RowExpression)] = Nil
  override def reason: Int = ChangeReason.Trigger
  override def words: String = "when a row arrives"
  override private[window] def net: Option[() => NetTrigger] = Some(() => EachRowNetTrigger)
}

/** Changes the contents with each row. */
private case object EachRowNetTrigger extends NetTrigger {
  override def entersAt(at: Long, pending: Long): Boolean = true
  override def reason: Int = ChangeReason.Arrived
}
