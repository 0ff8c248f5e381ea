package winops.window.piece

import winops.terms.{Purpose, RowExpression}
import winops.window.changes.ChangeReason
import winops.window.contents.WindowContext.Make
import winops.window.rules.{ArrivalEviction, EvictionRule, NoRule}

/** A window punctuation. */
case object Punctuation extends Trigger {
  override def usesTime: Boolean = false
  override def firesAtPunctuation: Boolean = true
  override def reads: Seq[(Purpose, RowExpression)] = Nil
  override def reason: Int = ChangeReason.Punctuation
  override def words: String = "at each window punctuation"

  override private[window] def emptyingEvents: Option[Make[(EvictionRule, ArrivalEviction)]] =
    Some(_ => (NoRule, TumblingPunctuation))
}

/** Evicts all rows at a window punctuation. */
private case object TumblingPunctuation extends ArrivalEviction {
  override def emptiesWithPunctuation: Boolean = true
  override def reason: Int = ChangeReason.Punctuation
}
