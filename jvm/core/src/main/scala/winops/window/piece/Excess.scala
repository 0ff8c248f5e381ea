package winops.window.piece

import winops.terms.{Purpose, RowExpression, Wording}
import winops.window.changes.ChangeReason

/** The row that exceeds the bound by `rows` rows. A value of 1 evicts a row as soon as it exceeds
  * the bound; a larger value is CCL's SLACK or EVERY.
  */
final case class Excess(rows: Long) extends Trigger {
  override def usesTime: Boolean = false
  override def firesAtPunctuation: Boolean = false
  override def reads: Seq[(Purpose, RowExpression)] = Nil
  override def reason: Int = ChangeReason.Trigger

  override def words: String =
    s"when the window holds ${Wording.counted(rows, "row")} too many"
}
