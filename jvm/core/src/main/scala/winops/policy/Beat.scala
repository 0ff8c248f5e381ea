package winops.policy

/** Beat: when something happens. */
sealed trait Beat {
  def usesTime: Boolean = false
}

object Beat {
  case object Never extends Beat

  case object EachRow extends Beat

  /** With every `rows`-th row. */
  final case class EachRows(rows: Long) extends Beat

  /** When the bound is exceeded by `rows` rows: 1 is at once, more is a SLACK. */
  final case class Excess(rows: Long) extends Beat

  /** The instant at which a row becomes too old. */
  case object WhenDue extends Beat {
    override def usesTime: Boolean = true
  }

  /** The ends of the spans in a row, counted from the origin.
    *
    * @param forced
    *   whether a beat is told though there is nothing to tell
    */
  final case class Period(span: Span, origin: Origin, forced: Boolean = false) extends Beat {
    override def usesTime: Boolean = true
  }

  /** With the `rows`-th row since the last beat, or `span` after that, whichever comes first; at
    * first `span` after the first row, or after `origin` if that is given.
    *
    * @param forced
    *   whether a beat is told though there is nothing to tell
    */
  final case class PeriodOrRows(span: Span, rows: Long, origin: Option[Origin], forced: Boolean)
      extends Beat {
    override def usesTime: Boolean = true
  }

  /** When the timestamp of an arriving row is in another span than that of the first row since
    * the last beat; spans count from `reference`, in milliseconds, or from the first row's
    * timestamp. The arriving row belongs to what comes next.
    */
  final case class Crosses(timestamp: RowExpression, span: Span, reference: Option[Long])
      extends Beat

  /** When the value of an arriving row is more than `distance` above that of the oldest row, or,
    * for a report, of the row that beat last. The arriving row belongs to what comes next.
    */
  final case class Exceeds(value: RowExpression, distance: Distance) extends Beat

  /** When the condition holds.
    *
    * @param withRow
    *   whether the arriving row belongs to what ends, or to what comes next
    */
  final case class Holds(condition: RowExpression, withRow: Boolean) extends Beat

  /** When no row has arrived for the span. */
  final case class Quiet(span: Span) extends Beat {
    override def usesTime: Boolean = true
  }

  /** With a window punctuation. */
  case object Punctuation extends Beat
}
