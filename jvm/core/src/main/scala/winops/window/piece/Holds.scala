package winops.window.piece

import winops.terms.{Purpose, RowExpression, Wording}
import winops.window.changes.ChangeReason
import winops.window.contents.{FrontView, HeldRows}
import winops.window.contents.WindowContext.Make
import winops.window.expression.{RowCondition, WindowView}
import winops.window.rules.BatchTrigger

/** The arrival of a row with which the condition holds.
  *
  * @param withRow
  *   true if the arriving row belongs to the batch that ends, false if it belongs to the next one
  */
final case class Holds(condition: RowExpression, withRow: Boolean) extends Trigger {
  override def usesTime: Boolean = false
  override def firesAtPunctuation: Boolean = false
  override def reads: Seq[(Purpose, RowExpression)] = Seq(Purpose.Condition -> condition)
  override def reason: Int = ChangeReason.Trigger

  override def words: String =
    s"${if (withRow) "with" else "before"} each row for which ${Wording.shown(condition)} holds"

  override private[window] def batch: Option[Make[BatchTrigger]] = Some { context =>
    new ConditionBatchTrigger(context.evaluator.condition(condition), withRow, context.held)
  }
}

/** Completes a batch with a row for which the condition holds.
  *
  * @param withRow
  *   true if that row belongs to the batch, false if it begins the next batch
  */
private final class ConditionBatchTrigger(
    condition: RowCondition,
    withRow: Boolean,
    held: HeldRows)
    extends BatchTrigger {
  private val view = new FrontView(held)

  override def endAfter(row: Long, at: Long, first: Long, count: Long): Long = {
    view.set(row, first, row, count, 0L)
    if (!condition.holds(view)) WindowView.NoRow else if (withRow) row + 1 else row
  }

  override def isCompleteAfterLoss(first: Long, last: Long, count: Long): Boolean = {
    view.set(last, first, last, count, 0L)
    condition.holds(view)
  }

  override def emitsEmpty: Boolean = true
}
