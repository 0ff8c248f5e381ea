package winops.policy

/** One window: four of the six pieces of a [[Policy]].
  *
  * @param admit
  *   rule by which the window admits arriving rows
  * @param order
  *   order of the rows in the window
  * @param bound
  *   rule that says which rows exceed the window
  * @param triggers
  *   events at which rows enter, rows leave, and contents are reported
  */
final case class Window(admit: Admit, order: Order, bound: Bound, triggers: Triggers) {

  /** Returns true if the window depends on time. */
  def usesTime: Boolean = admit.usesTime || bound.usesTime || triggers.usesTime

  /** Returns true if rows enter when they arrive and leave as soon as they exceed the bound, and
    * the contents are never reported.
    */
  def changesAtOnce: Boolean = triggers.enter == Trigger.EachRow &&
    triggers.report == Trigger.Never && leavesAtOnce

  /** Returns true if rows leave as soon as they exceed the bound. */
  private def leavesAtOnce: Boolean = (bound, triggers.leave) match {
    case (Bound.Unbounded, Trigger.Never | Trigger.EachRow) => true
    case (Bound.MoreThan(_), Trigger.EachRow | Trigger.Excess(1L)) => true
    case (Bound.Everything | Bound.PreviousBatch, _) => false
    case (_, leave) => leave == (if (bound.usesTime) Trigger.WhenDue else Trigger.EachRow)
  }

  /** The key for which the window holds one row each, if the window has no other rule. */
  private[policy] def keyOfEachRow: Option[Seq[RowExpression]] = this match {
    case Window(Admit.All, Order.Replacing(keys), Bound.Unbounded, _) => Some(keys)
    case Window(Admit.FirstOfEach(keys), Order.Arrival, Bound.Unbounded, _) => Some(keys)
    case _ => None
  }

  /** Returns true if the window evicts each row independently of all other rows. */
  private[policy] def looksAtEachRow: Boolean = this match {
    case Window(Admit.All, Order.Arrival, bound, _) =>
      bound match {
        case Bound.Unbounded | _: Bound.AgeReached | _: Bound.DeadlineReached => true
        case _ => false
      }
    case _ => false
  }

  /** The number of newest rows that the window holds, if this number alone decides. */
  private[policy] def newestRows: Option[Long] = this match {
    case Window(
          Admit.All,
          Order.Arrival,
          Bound.MoreThan(rows),
          Triggers(Trigger.EachRow, leave, _)) =>
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
