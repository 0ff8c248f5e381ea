package winops.policy

import java.time.{Instant, ZoneOffset}

/** A length of time: calendar months, which are as long as the calendar says in UTC, and after
  * them exact microseconds.
  */
final case class Span(months: Long, micros: Long) {
  import Span._

  private val millis = -Math.floorDiv(-micros, MicrosPerMilli)

  /** The first millisecond at which the span that began at `instant` is over. */
  def after(instant: Long): Long = shifted(instant, months) + millis

  /** The latest `instant` such that the span that began there is over at `end`. */
  def before(end: Long): Long = shifted(end, -months) - millis

  /** Whether the span is a fixed number of microseconds. */
  def isExact: Boolean = months == 0L

  /** Whether there is no time between the beginning and the end. */
  def isEmpty: Boolean = months == 0L && micros == 0L

  /** The end of the `count`-th span in a row of which the first begins at `instant`; negative
    * counts go back.
    */
  def times(count: Long, instant: Long): Long = shifted(instant, months * count) +
    -Math.floorDiv(-(micros * count), MicrosPerMilli)

  /** The first end of a span that is after `instant`, when one begins at `origin` and the others
    * follow and precede it without gaps.
    */
  def nextAfter(instant: Long, origin: Long): Long =
    if (isExact) {
      // A thousand spans are as many milliseconds as one has microseconds; so nothing overflows,
      // however far the instants are from each other.
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
