package winops.policy

/** What windows have in common that differ in nothing but their length: a number of rows, or a
  * span of time. They hold their rows in the same way, so that what one has held another can go
  * on with: rows that are too many or too old for it leave as if they had just become so.
  *
  * {{{
  * KEEP 100 ROWS        KEEP 20 ROWS SLACK 5        KEEP ALL
  * }}}
  *
  * @param name
  *   what stands for them in a checkpoint
  */
final case class Resizable(name: String)

object Resizable {

  /** Windows whose rows leave because of other rows, and never of time. */
  val ByRows: Resizable = Resizable("rows")

  private val ByAge = Resizable("interval")

  /** What the policy's window is; None where more than a length decides over its rows. */
  def of(policy: Policy): Option[Resizable] = policy match {
    case Policy(
          Group(_, None),
          Retention.One(
            Window(Admit.All, Order.Arrival, bound, Triggers(Trigger.EachRow, leave, Trigger.Never))),
          Stream.InsertsThenDeletes,
          _,
          _,
          None,
          None) =>
      of(bound, leave)
    case _ => None
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
