package winops.window.piece

import winops.storage.rows.Rows
import winops.terms.{Purpose, RowExpression, Wording}
import winops.window.changes.ChangeReason
import winops.window.contents.WindowContext.Make
import winops.window.rules.{ArrivalEviction, BufferedPart, CountRule, EvictionRule, NoRule, Part}

/** All rows except the newest `rows` rows; in a sorted window, all except the first `rows` rows.
  */
final case class MoreThan(rows: Long) extends Bound {
  override def usesTime: Boolean = false
  override def reads: Seq[(Purpose, RowExpression)] = Nil
  override def evictsOldestFirst: Boolean = true
  override def evictsFromAll: Boolean = true
  override def looksAtEachRow: Boolean = false

  override def leavesAtOnce(leave: Trigger): Boolean =
    leave == EachRow || leave == Excess(1L)

  override def reasons(leave: Trigger): Seq[Int] = leave match {
    case Excess(slack) => Seq(CountRule.reason(rows, slack))
    case _ => Seq(ChangeReason.Displaced)
  }

  override def resizable(leave: Trigger): Option[Resizable] = leave match {
    case Excess(_) => Some(Resizable.ByRows)
    case _ => None
  }

  override def growth(before: Bound): Option[String] = before match {
    case fewer: MoreThan if fewer.rows < rows => Some(fewer.fills)
    case _ => None
  }

  private[piece] def fills: String = s"a group with $rows rows fills from ${rows + 1} upward"

  override def mostRows(leave: Trigger): Option[Long] = leave match {
    case Excess(slack) => Some(rows + slack - 1)
    case _ => Some(rows)
  }

  override private[winops] def newestRows: Option[Long] = Some(rows)

  override private[window] def takesKeys: Boolean = true

  override private[window] def rule(leave: Trigger): Option[Make[EvictionRule]] = leave match {
    case Excess(slack) => Some(_ => new CountRule(rows, slack))
    case _ => None
  }

  override private[window] def ruleAtOnce: Option[Rows => EvictionRule] =
    Some(_ => new CountRule(rows))

  // A window of one row and more slack is `KEEP EVERY n ROWS`, whose rows are a batch.
  override private[window] def bufferedPart(leave: Trigger, buffer: Long): Option[Make[Part]] = {
    val slack = leave match {
      case EachRow => Some(1L)
      case Excess(rowsAtOnce) if rows > 1 || rowsAtOnce == 1 => Some(rowsAtOnce)
      case _ => None
    }
    slack.map(atOnce => context => new BufferedPart(rows, atOnce, buffer, context.held))
  }

  override private[window] def events(
      leave: Trigger): Option[Make[(EvictionRule, ArrivalEviction)]] =
    Option.when(leave == EachRow)(_ => (NoRule, new SlidingRows(rows)))

  override def until: Seq[String] =
    Seq(if (rows == 1) "a newer row has arrived" else s"$rows newer rows have arrived")
  override def whileEvicting: Option[String] = None

  override def keeps(admit: Admit, order: Order, leave: Trigger): String = leave match {
    case Excess(slack) if rows == 1 && slack > 1 && order == Arrival =>
      s"collects up to $slack rows"
    case _ => super.keeps(admit, order, leave)
  }

  override protected def held(order: Order): String =
    s"the ${order.kept} ${Wording.several(rows)}"

  override protected def sorted(order: Order): String =
    order.criteria.fold("")(by => s" in the order of $by")

  override protected def leaves(leave: Trigger, order: Order): Option[String] = leave match {
    case Excess(slack) if slack > 1 =>
      Some {
        if (rows == 1 && order == Arrival) "the next row evicts all of them"
        else s"evicts the ${order.evicted} $slack rows when the window holds ${rows + slack}"
      }
    case _ => super.leaves(leave, order)
  }
}

/** Evicts the oldest row before a row that would make the window exceed `count` rows. */
private final class SlidingRows(count: Long) extends ArrivalEviction {
  private val rule = new CountRule(count)

  override def beforeRow(head: Long, row: Long): Long = head + rule.excess(row + 1 - head)
  override def fillsWithRow(size: Long): Boolean = size == count
  override def reason: Int = ChangeReason.Displaced
}
