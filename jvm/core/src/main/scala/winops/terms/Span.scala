package winops.terms

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

  private val millis = ceilToMillis(micros)

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
    ceilToMillis(micros * count)

  /** The first end of a span after `instant`, among consecutive spans before and after `origin`
    * of which one begins at `origin`.
    */
  def nextAfter(instant: Long, origin: Long): Long =
    if (isExact) {
      val start = startBefore(instant, origin)
      start + ceilToMillis((passedSince(start, instant) + 1) * micros)
    } else times(monthsPassed(instant, origin) + 1, origin)

  /** The last end of a span at or before `instant`, among the same spans. */
  def lastUntil(instant: Long, origin: Long): Long =
    if (isExact) {
      val start = startBefore(instant, origin)
      start + ceilToMillis(passedSince(start, instant) * micros)
    } else times(monthsPassed(instant, origin), origin)

  /** The number of instants after `first`, up to `last`, at which one or more of the same spans
    * end.
    */
  def endsBetween(first: Long, last: Long, origin: Long): Long =
    if (!isExact) monthsPassed(last, origin) - monthsPassed(first, origin)
    else if (micros < MicrosPerMilli) last - first
    else exactPassed(last, origin) - exactPassed(first, origin)

  // 1000 spans are as many milliseconds as one span has microseconds. Stepping by 1000 spans first
  // avoids an overflow, however large the difference between the instants is.
  private def startBefore(instant: Long, origin: Long): Long =
    origin + Math.floorDiv(instant - origin, micros) * micros

  private def passedSince(start: Long, instant: Long): Long =
    Math.floorDiv((instant - start) * MicrosPerMilli, micros)

  private def exactPassed(instant: Long, origin: Long): Long =
    Math.floorDiv(instant - origin, micros) * MicrosPerMilli +
      passedSince(startBefore(instant, origin), instant)

  /** The number of spans from `origin` that are over at `instant`. */
  private def monthsPassed(instant: Long, origin: Long): Long = {
    var count =
      if (millis == 0) Math.floorDiv(monthOf(instant) - monthOf(origin), months) - 1
      else Math.floorDiv(instant - origin, longestMillis)
    while (times(count + 1, origin) <= instant) count += 1
    while (times(count, origin) > instant) count -= 1
    count
  }

  private def longestMillis: Long = months * LongestMonthMillis + millis
}

object Span {
  private val MicrosPerMilli = 1000L
  private val LongestMonthMillis = 31L * 24 * 60 * 60 * 1000

  def ofMicros(micros: Long): Span = Span(0L, micros)
  def ofMillis(millis: Long): Span = Span(0L, millis * MicrosPerMilli)

  private def ceilToMillis(micros: Long): Long = -Math.floorDiv(-micros, MicrosPerMilli)

  /** The number of the month in UTC, counted from the year 0. */
  private def monthOf(instant: Long): Long = {
    val moment = Instant.ofEpochMilli(instant).atOffset(ZoneOffset.UTC)
    moment.getYear * 12L + moment.getMonthValue
  }

  private def shifted(instant: Long, months: Long): Long =
    if (months == 0L) instant
    else {
      val moment = Instant.ofEpochMilli(instant).atOffset(ZoneOffset.UTC)
      moment.plusMonths(months).toInstant.toEpochMilli
    }
}
