package winops.text.apama

import winops.policy._

/** What a stream query says of its window, parameters filled in and columns looked up. */
private[apama] final case class Query(
    partition: Seq[RowExpression.Column],
    content: Content,
    unique: Option[RowExpression.Column],
    shown: Shown) {

  /** The policy, whose periodic triggers count from `origin`.
    *
    * Apama: a step is a batch, the difference between two contents. Of the items that the other
    * clauses keep, those that are not the newest of their key are shadowed.
    */
  def policy(origin: Origin): Policy = Policy(
    Group(partition),
    Retention.One(
      Window(
        Admit.All,
        unique.fold[Order](Order.Arrival)(key => Order.Shadowing(Seq(key))),
        content.bound,
        content.triggers(origin))),
    Stream(shown.inserts, shown.deletes, StepOrder.Net),
    Canonical.text(this, origin),
    Canonical.window(this, origin))
}

/** Which items are in the window, and when that changes. */
private[apama] sealed trait Content {
  def bound: Bound

  /** Apama: items that are batched enter and leave at the same trigger. */
  def triggers(origin: Origin): Triggers
}

private[apama] object Content {
  case object All extends Content {
    override def bound: Bound = Bound.Unbounded
    override def triggers(origin: Origin): Triggers = Triggers(Trigger.EachRow, Trigger.Never, Trigger.Never)
  }

  /** The last `rows` items.
    *
    * @param every
    *   how many items make a batch
    */
  final case class Retain(rows: Long, every: Option[Long]) extends Content {
    override def bound: Bound = Bound.MoreThan(rows)
    override def triggers(origin: Origin): Triggers = every match {
      case Some(batch) => together(Trigger.EachRows(batch))
      case None => Triggers(Trigger.EachRow, Trigger.Excess(1), Trigger.Never)
    }
  }

  /** The items of the last `micros`; of these the last `retain`.
    *
    * @param every
    *   after how many microseconds a batch ends
    */
  final case class Within(micros: Long, every: Option[Long], retain: Option[Long])
      extends Content {
    override def bound: Bound = {
      val age = Bound.AgeReached(Span.ofMicros(micros))
      retain.fold[Bound](age)(rows => Bound.Any(Seq(age, Bound.MoreThan(rows))))
    }

    override def triggers(origin: Origin): Triggers = every match {
      case Some(period) => together(Trigger.Period(Span.ofMicros(period), origin))
      case None => Triggers(Trigger.EachRow, Trigger.WhenDue, Trigger.Never)
    }
  }

  private def together(trigger: Trigger): Triggers = Triggers(enter = trigger, leave = trigger, Trigger.Never)
}

/** Which changes of the content a query shows. */
private[apama] sealed abstract class Shown(val inserts: Boolean, val deletes: Boolean)

private[apama] object Shown {
  case object Changes extends Shown(inserts = true, deletes = true)
  case object Inserts extends Shown(inserts = true, deletes = false)
  case object Deletes extends Shown(inserts = false, deletes = true)
}
