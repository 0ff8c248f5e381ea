package winops.spark.execution

import org.apache.spark.util.AccumulatorV2

import winops.window.time.Clock

/** Accumulates the time of the earliest timer that the tasks report; [[Clock.Never]] if none. */
final class NextTimerAccumulator extends AccumulatorV2[Long, Long] {
  private var earliest = Clock.Never

  override def isZero: Boolean = earliest == Clock.Never
  override def reset(): Unit = earliest = Clock.Never
  override def add(due: Long): Unit = earliest = Math.min(earliest, due)
  override def merge(other: AccumulatorV2[Long, Long]): Unit = add(other.value)
  override def value: Long = earliest

  override def copy(): NextTimerAccumulator = {
    val other = new NextTimerAccumulator
    other.add(earliest)
    other
  }
}
