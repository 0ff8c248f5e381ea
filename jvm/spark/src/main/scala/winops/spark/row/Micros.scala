package winops.spark.row

/** Instants of the machine, which counts milliseconds, as Spark's, which counts microseconds. */
object Micros {

  /** Milliseconds as microseconds; what is beyond Spark's first or last instant is that instant.
    */
  def of(millis: Long): Long =
    if (millis < Long.MinValue / PerMilli) Long.MinValue
    else if (millis > Long.MaxValue / PerMilli) Long.MaxValue
    else millis * PerMilli

  private final val PerMilli = 1000L
}
