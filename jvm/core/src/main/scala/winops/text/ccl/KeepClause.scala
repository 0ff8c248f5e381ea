package winops.text.ccl

import winops.policy._
import winops.terms.{Origin, RowExpression, Span, Stream}
import winops.window.piece._

/** A KEEP clause, with the values of parameters in place. */
private[ccl] sealed trait KeepClause {

  /** The columns of PER. */
  def per: Seq[RowExpression.Column]

  protected def bound: Bound

  /** The trigger at which the window evicts the rows that exceed the bound. */
  protected def leave(origin: Origin): Trigger

  /** The policy of the clause.
    *
    * CCL: rows enter when they arrive. Within a step the inserts precede the deletes that they
    * cause. No rule removes groups.
    *
    * @param origin
    *   instant from which a periodic trigger counts
    */
  final def policy(origin: Origin): Policy = Policy(
    Group(per),
    Retention.One(
      Window(
        EveryRow,
        Arrival,
        bound,
        Triggers(enter = EachRow, leave = leave(origin), report = Never))),
    Stream.InsertsThenDeletes,
    CclPrinter.text(this, origin),
    CclPrinter.window(this, origin))
}

private[ccl] object KeepClause {
  case object All extends KeepClause {
    override def per: Seq[RowExpression.Column] = Seq.empty
    override protected def bound: Bound = Unbounded
    override protected def leave(origin: Origin): Trigger = Never
  }

  /** CCL: when a group holds `rows + slack` rows, the `slack` oldest rows leave. */
  final case class Rows(rows: Long, slack: Long, per: Seq[RowExpression.Column])
      extends KeepClause {
    override protected def bound: Bound = MoreThan(rows)
    override protected def leave(origin: Origin): Trigger = Excess(slack)
  }

  /** CCL: the row that exceeds `rows` evicts all older rows and stays alone. So the bound is one
    * row, and `rows` is the slack.
    */
  final case class EveryRows(rows: Long, per: Seq[RowExpression.Column]) extends KeepClause {
    override protected def bound: Bound = MoreThan(1)
    override protected def leave(origin: Origin): Trigger = Excess(rows)
  }

  /** CCL: each row leaves when it is `micros` old. */
  final case class Interval(micros: Long, per: Seq[RowExpression.Column]) extends KeepClause {
    override protected def bound: Bound = AgeReached(Span.ofMicros(micros))
    override protected def leave(origin: Origin): Trigger = WhenDue
  }

  /** CCL: all rows leave at the end of each interval of `micros`, counted from the origin. */
  final case class EveryInterval(micros: Long, per: Seq[RowExpression.Column])
      extends KeepClause {
    override protected def bound: Bound = Everything
    override protected def leave(origin: Origin): Trigger =
      Period(Span.ofMicros(micros), origin)
  }
}
