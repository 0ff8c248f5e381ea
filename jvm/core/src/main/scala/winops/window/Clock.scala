package winops.window

/** The machine counts whole milliseconds; intervals are exact microseconds. */
private[winops] object Clock {
  val MicrosPerMilli = 1000L

  /** The first millisecond that is not before the instant. */
  def ceilToMillis(micros: Long): Long = -Math.floorDiv(-micros, MicrosPerMilli)

  /** The last millisecond that is not after the instant. */
  def floorToMillis(micros: Long): Long = Math.floorDiv(micros, MicrosPerMilli)
}
