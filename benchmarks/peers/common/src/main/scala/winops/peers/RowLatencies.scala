package winops.peers

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

/** The latencies of rows, which several threads may add. */
final class RowLatencies {
  private val latencies = new ConcurrentLinkedQueue[(Long, Long)]

  /** Adds the latency of the row with a number, in nanoseconds. */
  def add(number: Long, nanos: Long): Unit = {
    val _ = latencies.add(number -> nanos)
  }

  /** The number of rows. */
  def count: Int = latencies.size

  /** The line of a run: the candidate, the rate, and two percentiles in milliseconds.
    *
    * @param first
    *   the number of the first row that is measured
    * @param end
    *   the number that follows that of the last row
    */
  def line(candidate: String, rate: String, first: Long, end: Long): String = {
    val measured = latencies.asScala.iterator.filter(_._1 >= first).map(_._2).toArray
    java.util.Arrays.sort(measured)
    def millis(share: Double): Double =
      measured(Math.min(measured.length - 1, (measured.length * share).toInt)) / 1e6
    if (measured.length < end - first) s"$candidate $rate not held"
    else f"$candidate $rate ${millis(0.5)}%.2f ${millis(0.99)}%.2f"
  }
}
