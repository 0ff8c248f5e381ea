package winops.window.piece

import winops.terms.{Distance, Purpose, RowExpression, Wording}
import winops.window.changes.ChangeReason
import winops.window.contents.WindowContext.Make
import winops.window.rules.{ArrivalEviction, EvictionRule, NoRule}

/** From the oldest row on, the rows whose value is more than `distance` below that of the
  * arriving row.
  */
final case class ValueBehind(value: RowExpression, distance: Distance) extends Bound {
  override def usesTime: Boolean = false
  override def evictsOldestFirst: Boolean = true
  override def evictsFromAll: Boolean = true
  override def looksAtEachRow: Boolean = false
  override def leavesAtOnce(leave: Trigger): Boolean = leave == EachRow
  override def reads: Seq[(Purpose, RowExpression)] = Seq(Purpose.numberFor(distance) -> value)
  override def reasons(leave: Trigger): Seq[Int] = Seq(ChangeReason.Distance)
  override def resizable(leave: Trigger): Option[Resizable] = None

  override private[window] def events(
      leave: Trigger): Option[Make[(EvictionRule, ArrivalEviction)]] =
    Option.when(leave == EachRow) { context =>
      (NoRule, new SlidingValue(new Gap(context.evaluator.number(value), distance)))
    }

  override def until: Seq[String] = Seq(s"its $below")
  override def whileEvicting: Option[String] = Some(s"their $below")

  private def below: String = {
    val far = Wording.far(distance)
    s"${Wording.shown(value)} is more than $far below that of the new row"
  }
}

/** Evicts the oldest rows whose value the arriving row's exceeds by more than the gap's distance.
  */
private final class SlidingValue(gap: Gap) extends ArrivalEviction {
  override def admits(row: Long): Boolean = gap.has(row)
  override def reason: Int = ChangeReason.Distance

  override def beforeRow(head: Long, row: Long): Long = {
    var staying = head
    while (staying < row && gap.isExceeded(staying, row)) staying += 1
    staying
  }

  override def fillsBeforeRow(head: Long, row: Long): Boolean =
    head < row && gap.isExceeded(head, row)
}
