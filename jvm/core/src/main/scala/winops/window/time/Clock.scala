package winops.window.time

import winops.storage.bytes.{ByteReader, CorruptStateException}

/** The machine counts whole milliseconds; intervals are exact microseconds. */
private[winops] object Clock {
  val MicrosPerMilli = 1000L

  /** The instant that never comes. */
  val Never: Long = Long.MaxValue

  /** The first millisecond that is not before the instant. */
  def ceilToMillis(micros: Long): Long = -Math.floorDiv(-micros, MicrosPerMilli)

  /** The last millisecond that is not after the instant. */
  def floorToMillis(micros: Long): Long = Math.floorDiv(micros, MicrosPerMilli)

  /** Reads how far time had come; no time has come to [[Never]]. */
  def restore(in: ByteReader): Long = {
    val instant = in.number()
    if (instant == Never) {
      throw new CorruptStateException("a stored clock is at the instant that never comes")
    }
    instant
  }
}
