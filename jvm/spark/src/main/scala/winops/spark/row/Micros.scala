package winops.spark.row

/** Converts the machine's instants in milliseconds to Spark's in microseconds. */
object Micros {

  /** Returns milliseconds as microseconds, at most Spark's last instant and at least its first.
    */
  def of(millis: Long): Long =
    if (millis < Long.MinValue / PerMilli) Long.MinValue
    else if (millis > Long.MaxValue / PerMilli) Long.MaxValue
    else millis * PerMilli

  private final val PerMilli = 1000L
}
