package winops.window.time

import winops.storage.bytes.{ByteReader, CorruptStateException}

/** Converts between the machine's clock, which counts whole milliseconds, and intervals, which
  * are exact microseconds.
  */
private[winops] object Clock {
  val MicrosPerMilli = 1000L

  /** The instant of a timer that never fires. */
  val Never: Long = Long.MaxValue

  /** The first millisecond that is not before the instant. */
  def ceilToMillis(micros: Long): Long = -Math.floorDiv(-micros, MicrosPerMilli)

  /** The last millisecond that is not after the instant. */
  def floorToMillis(micros: Long): Long = Math.floorDiv(micros, MicrosPerMilli)

  /** Reads a stored clock.
    *
    * @throws CorruptStateException
    *   if the clock is at [[Never]]
    */
  def restore(in: ByteReader): Long = {
    val instant = in.number()
    if (instant == Never) {
      throw new CorruptStateException("a stored clock is at the instant that never comes")
    }
    instant
  }
}
