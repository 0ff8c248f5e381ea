package winops

import java.time.Instant

import scala.language.implicitConversions

/** The start of the first period of a window, as an argument of `keep`.
  *
  * Milliseconds since the epoch, a `java.time.Instant` and the text `first`, for the first row of
  * each group, are converted to it.
  */
final class Origin private (private[winops] val value: Any) {

  /** The milliseconds, or `first`. */
  override def toString: String = value.toString
}

object Origin {

  /** Milliseconds since the epoch. */
  implicit def ofMillis(millis: Long): Origin = new Origin(millis)

  /** Milliseconds since the epoch. */
  implicit def ofMillis(millis: Int): Origin = new Origin(millis.toLong)

  /** An instant, exact to the millisecond. */
  implicit def ofInstant(instant: Instant): Origin = new Origin(instant.toEpochMilli)

  /** The text `first`: the first row of each group. */
  implicit def ofText(text: String): Origin = new Origin(text)
}
