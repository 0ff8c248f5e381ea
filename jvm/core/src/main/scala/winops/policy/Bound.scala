package winops.policy

/** Bound: what is too much. */
sealed trait Bound {
  def usesTime: Boolean = false
}

object Bound {

  /** Nothing is ever too much. */
  case object Unbounded extends Bound

  /** All but the newest, or best, `rows` rows. */
  final case class MoreThan(rows: Long) extends Bound

  /** The rows that arrived `span` ago or earlier. */
  final case class AgeReached(span: Span) extends Bound {
    override def usesTime: Boolean = true
  }

  /** The rows that arrived more than `span` ago. */
  final case class AgeExceeded(span: Span) extends Bound {
    override def usesTime: Boolean = true
  }

  /** From the oldest on, the rows whose timestamp is `span` before the arriving row's or earlier.
    */
  final case class TimestampBehind(timestamp: RowExpression, span: Span) extends Bound

  /** From the oldest on, the rows whose value is more than `distance` below the arriving row's.
    */
  final case class ValueBehind(value: RowExpression, distance: Distance) extends Bound

  /** The rows whose own timestamp was `span` ago or earlier. */
  final case class DeadlineReached(timestamp: RowExpression, span: Span) extends Bound {
    override def usesTime: Boolean = true
  }

  /** From the oldest on, the rows for which the condition does not hold. */
  final case class Fails(condition: RowExpression) extends Bound

  /** Every row. */
  case object Everything extends Bound

  /** The rows of the previous batch, when a new one enters. */
  case object PreviousBatch extends Bound

  /** What is too much for any of them; each is a prefix of the order of arrival. */
  final case class Any(bounds: Seq[Bound]) extends Bound {
    override def usesTime: Boolean = bounds.exists(_.usesTime)
  }
}
