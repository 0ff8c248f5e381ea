package winops.policy

/** Admit: whether an arriving row may come in at all. */
sealed trait Admit {
  def usesTime: Boolean = false
}

object Admit {
  case object All extends Admit

  /** The first `rows` rows. */
  final case class First(rows: Long) extends Admit

  /** The rows that arrive before `span` is over, counted from `origin`. */
  final case class FirstFor(span: Span, origin: Origin) extends Admit {
    override def usesTime: Boolean = true
  }

  /** The first row of each key, as long as it stays. */
  final case class FirstOfEach(keys: Seq[RowExpression]) extends Admit
}

/** Order: what "oldest" means. */
sealed trait Order

object Order {
  case object Arrival extends Order

  /** By criteria; what is too much is the end. Of equal rows the oldest stands last. */
  final case class Sorted(by: Seq[SortKey]) extends Order

  /** By arrival; a row takes the place of the previous row of its key. */
  final case class Replacing(keys: Seq[RowExpression]) extends Order

  /** By criteria, as [[Sorted]]; a row takes the place of the previous row of its key. */
  final case class Ranked(keys: Seq[RowExpression], by: Seq[SortKey]) extends Order

  /** By arrival; of the rows of a key only the newest is seen, the others count but never come
    * back.
    */
  final case class Shadowing(keys: Seq[RowExpression]) extends Order
}

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

  /** The rows that came in together before those that come in now. */
  case object PreviousLot extends Bound

  /** What is too much for any of them; each is a prefix of the order of arrival. */
  final case class Any(bounds: Seq[Bound]) extends Bound {
    override def usesTime: Boolean = bounds.exists(_.usesTime)
  }
}

/** How far apart two values may be. */
sealed trait Distance

object Distance {

  /** Between whole numbers, or timestamps in microseconds: exact. */
  final case class Whole(value: Long) extends Distance

  /** Between floating-point numbers. */
  final case class Real(value: Double) extends Distance
}
