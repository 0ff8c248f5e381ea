package winops.text.ccl

import winops.policy._

/** What a KEEP clause says, parameters filled in. */
private[ccl] sealed trait Keep {

  /** The columns of PER. */
  def per: Seq[String]

  protected def bound: Bound

  /** When the bound is applied. */
  protected def leave(origin: Origin): Trigger

  /** The policy, whose periodic trigger counts from `origin`.
    *
    * CCL: rows enter as they arrive, and within a step the inserts stand before the deletes,
    * which they have triggered. Groups do not change when rows leave because of time, but are
    * kept.
    */
  final def policy(origin: Origin): Policy = Policy(
    Group.by(per),
    Retention.One(
      Window(
        Admit.All,
        Order.Arrival,
        bound,
        Triggers(enter = Trigger.EachRow, leave = leave(origin), report = Trigger.Never))),
    Stream.InsertsThenDeletes,
    Canonical.text(this, origin),
    Canonical.window(this, origin))
}

private[ccl] object Keep {
  case object All extends Keep {
    override def per: Seq[String] = Seq.empty
    override protected def bound: Bound = Bound.Unbounded
    override protected def leave(origin: Origin): Trigger = Trigger.Never
  }

  /** CCL: when a group holds `rows + slack` rows, the `slack` oldest leave. */
  final case class Rows(rows: Long, slack: Long, per: Seq[String]) extends Keep {
    override protected def bound: Bound = Bound.MoreThan(rows)
    override protected def leave(origin: Origin): Trigger = Trigger.Excess(slack)
  }

  /** CCL: the row that would be one too many makes all older ones leave, and stays alone. So the
    * row itself is the one that is kept, and the jump is a slack.
    */
  final case class EveryRows(rows: Long, per: Seq[String]) extends Keep {
    override protected def bound: Bound = Bound.MoreThan(1)
    override protected def leave(origin: Origin): Trigger = Trigger.Excess(rows)
  }

  /** CCL: each row leaves when it is `micros` old. */
  final case class Interval(micros: Long, per: Seq[String]) extends Keep {
    override protected def bound: Bound = Bound.AgeReached(Span.ofMicros(micros))
    override protected def leave(origin: Origin): Trigger = Trigger.WhenDue
  }

  /** CCL: all rows leave at the end of each interval of `micros`, counted from the origin. */
  final case class EveryInterval(micros: Long, per: Seq[String]) extends Keep {
    override protected def bound: Bound = Bound.Everything
    override protected def leave(origin: Origin): Trigger =
      Trigger.Period(Span.ofMicros(micros), origin)
  }
}
