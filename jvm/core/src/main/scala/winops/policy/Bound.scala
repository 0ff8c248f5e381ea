package winops.policy

/** The rule that says which rows exceed a window: one of the four pieces of a window. The window
  * evicts these rows at its leave trigger.
  */
sealed trait Bound {

  /** Returns true if rows exceed the bound because time passes. */
  def usesTime: Boolean = false
}

object Bound {

  /** No row ever exceeds the window. */
  case object Unbounded extends Bound

  /** All rows except the newest `rows` rows; in a sorted window, all except the first `rows`
    * rows.
    */
  final case class MoreThan(rows: Long) extends Bound

  /** The rows that arrived `span` ago or earlier. */
  final case class AgeReached(span: Span) extends Bound {
    override def usesTime: Boolean = true
  }

  /** The rows that arrived more than `span` ago. */
  final case class AgeExceeded(span: Span) extends Bound {
    override def usesTime: Boolean = true
  }

  /** From the oldest row on, the rows whose timestamp is at least `span` before that of the
    * arriving row.
    */
  final case class TimestampBehind(timestamp: RowExpression, span: Span) extends Bound

  /** From the oldest row on, the rows whose value is more than `distance` below that of the
    * arriving row.
    */
  final case class ValueBehind(value: RowExpression, distance: Distance) extends Bound

  /** The rows whose own timestamp was `span` ago or earlier. */
  final case class DeadlineReached(timestamp: RowExpression, span: Span) extends Bound {
    override def usesTime: Boolean = true
  }

  /** From the oldest row on, the rows for which the condition does not hold. */
  final case class Fails(condition: RowExpression) extends Bound

  /** Every row. */
  case object Everything extends Bound

  /** The rows of the previous batch, when a new batch enters. */
  case object PreviousBatch extends Bound

  /** The rows that exceed any of `bounds`. Each bound must evict rows in the order of their
    * arrival.
    */
  final case class Any(bounds: Seq[Bound]) extends Bound {
    override def usesTime: Boolean = bounds.exists(_.usesTime)
  }
}
