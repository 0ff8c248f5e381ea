package winops.policy

import java.time.{Instant, ZoneOffset}

/** A length of time: calendar months in UTC, followed by an exact number of microseconds.
  *
  * @param months
  *   number of calendar months
  * @param micros
  *   number of microseconds after the months
  */
final case class Span(months: Long, micros: Long) {
  import Span._

  private val millis = -Math.floorDiv(-micros, MicrosPerMilli)

  /** The first millisecond at which a span that began at `instant` is over. */
  def after(instant: Long): Long = shifted(instant, months) + millis

  /** The instant one span before `end`. For an exact span, this is the latest instant at which a
    * span can begin that is over at `end`.
    */
  def before(end: Long): Long = shifted(end, -months) - millis

  /** Returns true if the span is a fixed number of microseconds. */
  def isExact: Boolean = months == 0L

  /** Returns true if the span has no length. */
  def isEmpty: Boolean = months == 0L && micros == 0L

  /** The end of the `count`-th of consecutive spans, the first of which begins at `instant`.
    * Negative counts go back in time.
    */
  def times(count: Long, instant: Long): Long = shifted(instant, months * count) +
    -Math.floorDiv(-(micros * count), MicrosPerMilli)

  /** The first end of a span after `instant`, among consecutive spans before and after `origin`
    * of which one begins at `origin`.
    */
  def nextAfter(instant: Long, origin: Long): Long =
    if (isExact) {
      // 1000 spans are as many milliseconds as one span has microseconds. Stepping by 1000 spans
      // first avoids an overflow, however large the difference between the instants is.
      val start = origin + Math.floorDiv(instant - origin, micros) * micros
      val passed = Math.floorDiv((instant - start) * MicrosPerMilli, micros)
      start - Math.floorDiv(-((passed + 1) * micros), MicrosPerMilli)
    } else {
      var count = Math.floorDiv(instant - origin, longestMillis)
      while (times(count, origin) <= instant) count += 1
      while (times(count - 1, origin) > instant) count -= 1
      times(count, origin)
    }

  private def longestMillis: Long = months * LongestMonthMillis + millis
}

object Span {
  private val MicrosPerMilli = 1000L
  private val LongestMonthMillis = 31L * 24 * 60 * 60 * 1000

  def ofMicros(micros: Long): Span = Span(0L, micros)
  def ofMillis(millis: Long): Span = Span(0L, millis * MicrosPerMilli)

  private def shifted(instant: Long, months: Long): Long =
    if (months == 0L) instant
    else {
      val moment = Instant.ofEpochMilli(instant).atOffset(ZoneOffset.UTC)
      moment.plusMonths(months).toInstant.toEpochMilli
    }
}
