package winops.text.esper

/** A unit of Esper's time periods.
  *
  * @param one
  *   canonical spelling in the singular
  * @param many
  *   canonical spelling in the plural
  * @param months
  *   length in calendar months; 0 for a unit of fixed length
  * @param micros
  *   length in microseconds; 0 for a unit of calendar months
  * @param others
  *   other spellings
  */
private[esper] sealed abstract class PeriodUnit(
    one: String,
    val many: String,
    val months: Long,
    val micros: Long,
    others: String*) {

  /** Formats a number of units: `1 day`, `2 days`. */
  def text(count: Long): String = s"$count ${if (count == 1) one else many}"

  private def isSpelled(lower: String): Boolean =
    lower == one || lower == many || others.contains(lower)
}

private[esper] object PeriodUnit {
  case object Year extends PeriodUnit("year", "years", 12L, 0L)
  case object Month extends PeriodUnit("month", "months", 1L, 0L)
  case object Week extends PeriodUnit("week", "weeks", 0L, 604800000000L)
  case object Day extends PeriodUnit("day", "days", 0L, 86400000000L)
  case object Hour extends PeriodUnit("hour", "hours", 0L, 3600000000L)
  case object Minute extends PeriodUnit("min", "min", 0L, 60000000L, "minute", "minutes")
  case object Second extends PeriodUnit("sec", "sec", 0L, 1000000L, "second", "seconds")
  case object Millisecond
      extends PeriodUnit("msec", "msec", 0L, 1000L, "millisecond", "milliseconds")
  case object Microsecond
      extends PeriodUnit("usec", "usec", 0L, 1L, "microsecond", "microseconds")

  /** All units, the longest first. */
  val all: Seq[PeriodUnit] =
    Seq(Year, Month, Week, Day, Hour, Minute, Second, Millisecond, Microsecond)

  /** The unit that a word names, in any case. */
  def named(word: String): Option[PeriodUnit] = {
    val lower = Words.lower(word)
    all.find(_.isSpelled(lower))
  }
}
