package winops.peers

import java.util.concurrent.locks.LockSupport

/** Adds rows at a constant rate. The keys take turns.
  *
  * @param rate
  *   rows per second
  * @param add
  *   takes the key and the number of a row
  */
final class SteadyFeed(rate: Int, keys: Int, add: (Int, Long) => Unit) {
  private var next = 0L

  /** Adds rows for some seconds, and returns the number of the row that follows. */
  def run(seconds: Int): Long = {
    val (started, first, gap) = (System.nanoTime, next, 1000000000L / rate)
    val end = first + rate.toLong * seconds
    while (next < end) {
      val due = started + (next - first) * gap
      while (System.nanoTime < due) {
        LockSupport.parkNanos(Math.max(due - System.nanoTime, 1000L))
      }
      add((next % keys).toInt, next)
      next += 1
    }
    next
  }
}

object SteadyFeed {

  /** The seconds before the measurement, in which the JVM compiles. */
  val WarmUpSeconds = 15
}
