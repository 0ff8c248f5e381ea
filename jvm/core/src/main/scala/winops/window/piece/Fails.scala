package winops.window.piece

import winops.storage.bytes.ByteReader
import winops.terms.{Purpose, RowExpression, Wording}
import winops.window.changes.ChangeReason
import winops.window.contents.{FrontView, HeldRows}
import winops.window.contents.WindowContext.Make
import winops.window.expression.RowCondition
import winops.window.rules.{EvictedRows, NewestRowPart, Part}

/** From the oldest row on, the rows for which the condition does not hold. */
final case class Fails(condition: RowExpression) extends Bound {
  override def usesTime: Boolean = false
  override def evictsOldestFirst: Boolean = true
  override def evictsFromAll: Boolean = false
  override def looksAtEachRow: Boolean = false
  override def leavesAtOnce(leave: Trigger): Boolean = leave == EachRow
  override def reads: Seq[(Purpose, RowExpression)] = Seq(Purpose.Condition -> condition)
  override def reasons(leave: Trigger): Seq[Int] = Seq(ChangeReason.Condition)
  override def resizable(leave: Trigger): Option[Resizable] = None

  override private[window] def part: Option[Make[Part]] = Some { context =>
    new ConditionPart(context.evaluator.condition(condition), context.held)
  }

  override def until: Seq[String] = Seq(s"${Wording.shown(condition)} does not hold for it")

  override def whileEvicting: Option[String] =
    Some(s"${Wording.shown(condition)} does not hold for them")
}

/** Evicts the oldest row until the condition holds for the oldest row that is left. */
private final class ConditionPart(condition: RowCondition, held: HeldRows)
    extends NewestRowPart(held) {
  private val view = new FrontView(held)

  /** True if other windows have removed rows in the current step since the last evaluation. */
  private var lost = false

  override def arrive(row: Long, at: Long, evicted: EvictedRows): Unit = {
    super.arrive(row, at, evicted)
    pass(evicted)
  }

  override def forget(row: Long): Unit = {
    if (row >= head) lost = true
    super.forget(row)
  }

  /** Evaluates the condition again if other windows have removed rows. A row that fails leaves
    * only this window.
    */
  override def afterForgetting(): Unit = if (lost) {
    lost = false
    if (count > 0) pass(null)
  }

  private def pass(evicted: EvictedRows): Unit = {
    var expired = 0L
    var fails = true
    while (fails && count > 0) {
      val row = oldest
      view.set(row, row, last, count, expired)
      fails = !condition.holds(view)
      if (fails) {
        if (evicted != null) evicted.add(row, ChangeReason.Condition)
        pass(row)
        expired += 1
      }
    }
  }

  private def last: Long = held.lastFrom(newest)

  override def clear(): Unit = {
    super.clear()
    lost = false
  }

  override def restore(in: ByteReader): Unit = {
    super.restore(in)
    lost = false
  }
}
