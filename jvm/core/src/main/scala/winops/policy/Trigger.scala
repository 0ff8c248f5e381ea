package winops.policy

/** Trigger: when rows enter, when they leave, or when contents are reported. */
sealed trait Trigger {
  def usesTime: Boolean = false
}

object Trigger {
  case object Never extends Trigger

  case object EachRow extends Trigger

  /** With every `rows`-th row. */
  final case class EachRows(rows: Long) extends Trigger

  /** When the bound is exceeded by `rows` rows: 1 is at once, more is a SLACK. */
  final case class Excess(rows: Long) extends Trigger

  /** The instant at which a row becomes too old. */
  case object WhenDue extends Trigger {
    override def usesTime: Boolean = true
  }

  /** The ends of the spans in a row, counted from the origin.
    *
    * @param forced
    *   true if a trigger without changes is emitted too
    */
  final case class Period(span: Span, origin: Origin, forced: Boolean = false) extends Trigger {
    override def usesTime: Boolean = true
  }

  /** With the `rows`-th row since the last trigger, or `span` after that, whichever comes first; at
    * first `span` after the first row, or after `origin` if that is given.
    *
    * @param forced
    *   true if a trigger without changes is emitted too
    */
  final case class PeriodOrRows(span: Span, rows: Long, origin: Option[Origin], forced: Boolean)
      extends Trigger {
    override def usesTime: Boolean = true
  }

  /** When the timestamp of an arriving row is in another span than that of the first row since
    * the last trigger; spans count from `reference`, in milliseconds, or from the first row's
    * timestamp. The arriving row belongs to what comes next.
    */
  final case class Crosses(timestamp: RowExpression, span: Span, reference: Option[Long])
      extends Trigger

  /** When the value of an arriving row is more than `distance` above that of the oldest row, or,
    * for a report, of the row that triggered the last report. The arriving row belongs to what comes next.
    */
  final case class Exceeds(value: RowExpression, distance: Distance) extends Trigger

  /** When the condition holds.
    *
    * @param withRow
    *   whether the arriving row belongs to what ends, or to what comes next
    */
  final case class Holds(condition: RowExpression, withRow: Boolean) extends Trigger

  /** When no row has arrived for the span. */
  final case class Quiet(span: Span) extends Trigger {
    override def usesTime: Boolean = true
  }

  /** With a window punctuation. */
  case object Punctuation extends Trigger
}
