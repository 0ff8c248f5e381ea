package winops.text.dialect

import winops.policy.Category

/** Lengths of time in microseconds. A length must be above zero, at most [[Limits.MaxMicros]] and
  * whole, else it is `range`.
  */
object Intervals {
  private val MicrosPerSecond = 1000000
  private val MicrosPerDay = 86400L * MicrosPerSecond

  def micros(exact: BigDecimal, offset: Int): Either[Problem, Long] =
    if (exact.signum <= 0 || exact > Limits.MaxMicros) Left(outOfBounds(offset))
    else {
      Either.cond(
        exact.isWhole,
        exact.toLong,
        Problem(Category.Range, offset, "expected a whole number of microseconds"))
    }

  def ofSeconds(exact: BigDecimal, offset: Int): Either[Problem, Long] =
    micros(exact * MicrosPerSecond, offset)

  /** Converts microseconds to seconds. */
  def seconds(micros: Long): BigDecimal = BigDecimal(micros) / MicrosPerSecond

  /** The problem of a length that is not positive or is too long. */
  def outOfBounds(offset: Int): Problem = {
    val days = Limits.MaxMicros / MicrosPerDay
    Problem(Category.Range, offset, s"expected an interval above zero and of at most $days days")
  }
}
