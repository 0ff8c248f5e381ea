package winops.text.apama

import winops.policy._
import winops.terms.{Origin, RowExpression, Span, StepOrder, Stream}
import winops.window.piece._

/** A stream query, with the values of parameters in place and columns looked up.
  *
  * @param partition
  *   columns of `partition by`
  * @param content
  *   rule of the window
  * @param unique
  *   column of `with unique`
  * @param shown
  *   changes that the query emits
  */
private[apama] final case class Query(
    partition: Seq[RowExpression.Column],
    content: Content,
    unique: Option[RowExpression.Column],
    shown: Shown) {

  /** The policy of the query.
    *
    * Apama: a step emits the difference between the contents before and after it. Of the items
    * that the other clauses keep, only the newest of each unique key is visible.
    *
    * @param origin
    *   instant from which a periodic trigger counts
    */
  def policy(origin: Origin): Policy = Policy(
    Group(partition),
    Retention.One(
      Window(
        EveryRow,
        unique.fold[Order](Arrival)(key => Shadowing(Seq(key))),
        content.bound,
        content.triggers(origin))),
    Stream(shown.inserts, shown.deletes, StepOrder.Net),
    ApamaPrinter.text(this, origin),
    ApamaPrinter.window(this, origin))
}

/** The rule that says which items a window holds, and when its contents change. */
private[apama] sealed trait Content {
  def bound: Bound

  /** Apama: the items of a batch enter and leave at the same trigger. */
  def triggers(origin: Origin): Triggers
}

private[apama] object Content {
  case object All extends Content {
    override def bound: Bound = Unbounded
    override def triggers(origin: Origin): Triggers =
      Triggers(EachRow, Never, Never)
  }

  /** The last `rows` items.
    *
    * @param every
    *   number of items in a batch
    */
  final case class Retain(rows: Long, every: Option[Long]) extends Content {
    override def bound: Bound = MoreThan(rows)
    override def triggers(origin: Origin): Triggers = every match {
      case Some(batch) => together(EachRows(batch))
      case None => Triggers(EachRow, Excess(1), Never)
    }
  }

  /** The items of the last `micros` microseconds, or of these only the last `retain` items.
    *
    * @param every
    *   length of a batch in microseconds
    */
  final case class Within(micros: Long, every: Option[Long], retain: Option[Long])
      extends Content {
    override def bound: Bound = {
      val age = AgeReached(Span.ofMicros(micros))
      retain.fold[Bound](age)(rows => AnyOf(Seq(age, MoreThan(rows))))
    }

    override def triggers(origin: Origin): Triggers = every match {
      case Some(period) => together(Period(Span.ofMicros(period), origin))
      case None => Triggers(EachRow, WhenDue, Never)
    }
  }

  private def together(trigger: Trigger): Triggers =
    Triggers(enter = trigger, leave = trigger, Never)
}

/** The changes of the window contents that a query emits. */
private[apama] sealed abstract class Shown(val inserts: Boolean, val deletes: Boolean)

private[apama] object Shown {
  case object Changes extends Shown(inserts = true, deletes = true)
  case object Inserts extends Shown(inserts = true, deletes = false)
  case object Deletes extends Shown(inserts = false, deletes = true)
}
