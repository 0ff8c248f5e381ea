package winops.spark

/** Instants of the machine, which counts milliseconds, as Spark's, which counts microseconds. */
object Micros {

  /** Milliseconds as microseconds; the least and the greatest instant stay what they are. */
  def of(millis: Long): Long =
    if (millis == Long.MinValue || millis == Long.MaxValue) millis
    else Math.multiplyExact(millis, 1000L)
}
