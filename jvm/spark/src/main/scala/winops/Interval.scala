package winops

import java.time.Duration

import scala.concurrent.duration.FiniteDuration
import scala.language.implicitConversions

/** A length of time, as an argument of `keep`.
  *
  * A text, a `java.time.Duration` and a `FiniteDuration` are converted to it, so
  * `interval = "10 minutes"`, `interval = Duration.ofMinutes(10)` and `interval = 10.minutes` are
  * the same.
  */
final class Interval private (private[winops] val text: String) {

  /** The text of the interval. */
  override def toString: String = text
}

object Interval {

  /** An interval in words, such as `10 minutes` or `1 hour 30 min`. */
  implicit def ofText(text: String): Interval = new Interval(text)

  /** A duration, exact to the microsecond. */
  implicit def ofDuration(duration: Duration): Interval = {
    val parts =
      Seq(duration.toSeconds -> "seconds", duration.getNano / 1000L -> "microseconds")
    val text = parts.collect { case (number, unit) if number != 0 => s"$number $unit" }
    new Interval(if (text.isEmpty) "0 seconds" else text.mkString(" "))
  }

  /** A duration, exact to the microsecond. */
  implicit def ofFiniteDuration(duration: FiniteDuration): Interval =
    ofDuration(Duration.ofNanos(duration.toNanos))
}
