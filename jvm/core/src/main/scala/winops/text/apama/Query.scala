package winops.text.apama

import winops.policy._

/** What a stream query says of its window, parameters filled in and columns looked up. */
private[apama] final case class Query(
    partition: Seq[RowExpression.Column],
    content: Content,
    unique: Option[RowExpression.Column],
    shown: Shown) {

  /** The policy, whose periodic beats count from `origin`.
    *
    * Apama: a step is a lot, the difference between two contents. Of the items that the other
    * clauses keep, those that are not the newest of their key are shadowed.
    */
  def policy(origin: Origin): Policy = Policy(
    Group(partition),
    Retention.One(
      Window(
        Admit.All,
        unique.fold[Order](Order.Arrival)(key => Order.Shadowing(Seq(key))),
        content.bound,
        content.beats(origin))),
    Stream(shown.inserts, shown.deletes, StepOrder.Net),
    Canonical.text(this, origin),
    Canonical.window(this, origin))
}

/** Which items are in the window, and when that changes. */
private[apama] sealed trait Content {
  def bound: Bound

  /** Apama: items that are batched enter and leave at the same beat. */
  def beats(origin: Origin): Beats
}

private[apama] object Content {
  case object All extends Content {
    override def bound: Bound = Bound.Unbounded
    override def beats(origin: Origin): Beats = Beats(Beat.EachRow, Beat.Never, Beat.Never)
  }

  /** The last `rows` items.
    *
    * @param every
    *   how many items make a batch
    */
  final case class Retain(rows: Long, every: Option[Long]) extends Content {
    override def bound: Bound = Bound.MoreThan(rows)
    override def beats(origin: Origin): Beats = every match {
      case Some(batch) => together(Beat.EachRows(batch))
      case None => Beats(Beat.EachRow, Beat.Excess(1), Beat.Never)
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

    override def beats(origin: Origin): Beats = every match {
      case Some(period) => together(Beat.Period(Span.ofMicros(period), origin))
      case None => Beats(Beat.EachRow, Beat.WhenDue, Beat.Never)
    }
  }

  private def together(beat: Beat): Beats = Beats(enter = beat, leave = beat, Beat.Never)
}

/** Which changes of the content a query shows. */
private[apama] sealed abstract class Shown(val inserts: Boolean, val deletes: Boolean)

private[apama] object Shown {
  case object Changes extends Shown(inserts = true, deletes = true)
  case object Inserts extends Shown(inserts = true, deletes = false)
  case object Deletes extends Shown(inserts = false, deletes = true)
}
