package winops.policy

/** One window: four of the six pieces. */
final case class Window(admit: Admit, order: Order, bound: Bound, triggers: Triggers) {
  def usesTime: Boolean = admit.usesTime || bound.usesTime || triggers.usesTime

  /** The key of which the window holds one row each, if that is all it does. */
  private[policy] def keyOfEachRow: Option[Seq[RowExpression]] = this match {
    case Window(Admit.All, Order.Replacing(keys), Bound.Unbounded, _) => Some(keys)
    case Window(Admit.FirstOfEach(keys), Order.Arrival, Bound.Unbounded, _) => Some(keys)
    case _ => None
  }

  /** Whether the window lets go of a row for reasons that are the row's alone. */
  private[policy] def looksAtEachRow: Boolean = this match {
    case Window(Admit.All, Order.Arrival, bound, _) =>
      bound match {
        case Bound.Unbounded | _: Bound.AgeReached | _: Bound.DeadlineReached => true
        case _ => false
      }
    case _ => false
  }

  /** How many of the newest rows the window holds, if their number alone decides. */
  private[policy] def newestRows: Option[Long] = this match {
    case Window(Admit.All, Order.Arrival, Bound.MoreThan(rows), Triggers(Trigger.EachRow, leave, _)) =>
      leave match {
        case Trigger.EachRow | Trigger.Excess(1L) => Some(rows)
        case _ => None
      }
    case _ => None
  }

  /** The window over the rows of one key. */
  private[policy] def withinKey: Window = this match {
    case Window(Admit.All, Order.Replacing(_), Bound.Unbounded, _) =>
      Window(
        Admit.All,
        Order.Arrival,
        Bound.MoreThan(1L),
        Triggers(Trigger.EachRow, Trigger.Excess(1L), Trigger.Never))
    case Window(_: Admit.FirstOfEach, _, _, _) => copy(admit = Admit.First(1L))
    case _ => this
  }
}
