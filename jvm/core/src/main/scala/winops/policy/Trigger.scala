package winops.policy

/** The event at which rows enter, rows leave, or window contents are reported. */
sealed trait Trigger {

  /** Returns true if the trigger can fire because time passes. */
  def usesTime: Boolean = false
}

object Trigger {

  /** No event: the trigger never fires. */
  case object Never extends Trigger

  /** The arrival of each row. */
  case object EachRow extends Trigger

  /** The arrival of every `rows`-th row. */
  final case class EachRows(rows: Long) extends Trigger

  /** The row that exceeds the bound by `rows` rows. A value of 1 evicts a row as soon as it
    * exceeds the bound; a larger value is CCL's SLACK or EVERY.
    */
  final case class Excess(rows: Long) extends Trigger

  /** The instant at which a row expires. */
  case object WhenDue extends Trigger {
    override def usesTime: Boolean = true
  }

  /** The ends of consecutive spans that are counted from `origin`.
    *
    * @param forced
    *   true if a trigger without changes is emitted too
    */
  final case class Period(span: Span, origin: Origin, forced: Boolean = false) extends Trigger {
    override def usesTime: Boolean = true
  }

  /** The arrival of the `rows`-th row since the last trigger, or the end of `span` after the last
    * trigger, whichever comes first. The first span begins with the first row, or is the one of
    * the consecutive spans counted from `origin` in which that row arrives. After a timer without
    * changes, the next row starts a first span again, unless `forced`.
    *
    * @param origin
    *   instant from which the first span is counted; None selects the first row
    * @param forced
    *   true if a trigger without changes is emitted too
    */
  final case class PeriodOrRows(span: Span, rows: Long, origin: Option[Origin], forced: Boolean)
      extends Trigger {
    override def usesTime: Boolean = true
  }

  /** The arrival of a row whose timestamp is in a later span than that of the first row since the
    * last trigger. The arriving row belongs to the next batch.
    *
    * @param timestamp
    *   timestamp expression of a row
    * @param span
    *   length of the consecutive spans
    * @param reference
    *   instant in milliseconds from which the spans are counted; None selects the timestamp of
    *   the group's first row
    */
  final case class Crosses(timestamp: RowExpression, span: Span, reference: Option[Long])
      extends Trigger

  /** The arrival of a row whose value is more than `distance` above that of the oldest row. A
    * report trigger compares with the row that caused the last report instead, and at first with
    * the first row. The arriving row enters after the eviction or report.
    */
  final case class Exceeds(value: RowExpression, distance: Distance) extends Trigger

  /** The arrival of a row with which the condition holds.
    *
    * @param withRow
    *   true if the arriving row belongs to the batch that ends, false if it belongs to the next
    *   one
    */
  final case class Holds(condition: RowExpression, withRow: Boolean) extends Trigger

  /** The end of a span in which no row has arrived. */
  final case class Quiet(span: Span) extends Trigger {
    override def usesTime: Boolean = true
  }

  /** A window punctuation. */
  case object Punctuation extends Trigger
}
