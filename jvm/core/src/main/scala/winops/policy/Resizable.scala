package winops.policy

/** A class of windows that differ only in their length: a number of rows, or a span of time.
  * These windows store their rows in the same way, so one window can continue with the rows that
  * another one has stored. Rows that exceed the new window leave as if they had exceeded it only
  * now.
  *
  * {{{
  * KEEP 100 ROWS        KEEP 20 ROWS SLACK 5        KEEP ALL
  * }}}
  *
  * @param name
  *   name of the class in a checkpoint
  */
final case class Resizable(name: String)

object Resizable {

  /** Windows that evict rows because of other rows, and never because of time. */
  val ByRows: Resizable = Resizable("rows")

  private val ByAge = Resizable("interval")

  /** The class of the policy's window; None if more than a length decides which rows stay. */
  def of(policy: Policy): Option[Resizable] = policy match {
    case Policy(
          Group(_, None),
          Retention.One(
            Window(
              Admit.All,
              Order.Arrival,
              bound,
              Triggers(Trigger.EachRow, leave, Trigger.Never))),
          Stream.InsertsThenDeletes,
          _,
          _,
          None,
          None,
          _) =>
      of(bound, leave)
    case _ => None
  }

  /** Returns the bounds of two windows of one class if the later window keeps rows for longer. */
  def grown(before: Policy, now: Policy): Option[(Bound, Bound)] =
    (before.retention, now.retention) match {
      case (Retention.One(was), Retention.One(is))
          if of(before).isDefined && of(before) == of(now) && isLonger(was.bound, is.bound) =>
        Some((was.bound, is.bound))
      case _ => None
    }

  private def isLonger(was: Bound, is: Bound): Boolean = (was, is) match {
    case (Bound.MoreThan(before), Bound.MoreThan(now)) => now > before
    case (Bound.MoreThan(_), Bound.Unbounded) => true
    case (Bound.AgeReached(before), Bound.AgeReached(now)) =>
      before.isExact && now.isExact && now.micros > before.micros
    case _ => false
  }

  private def of(bound: Bound, leave: Trigger): Option[Resizable] = (bound, leave) match {
    case (Bound.Unbounded, Trigger.Never) | (Bound.MoreThan(_), Trigger.Excess(_)) =>
      Some(ByRows)
    case (Bound.AgeReached(_), Trigger.WhenDue) => Some(ByAge)
    case (Bound.Everything, Trigger.Period(_, Origin.At(millis), false)) =>
      Some(Resizable(s"every interval from $millis"))
    case (Bound.Everything, Trigger.Period(_, Origin.FirstRow, false)) =>
      Some(Resizable("every interval from the first row"))
    case _ => None
  }
}
