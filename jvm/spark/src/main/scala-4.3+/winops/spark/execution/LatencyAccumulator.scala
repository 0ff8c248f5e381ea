package winops.spark.execution

import org.apache.spark.util.AccumulatorV2

/** Accumulates the latencies of rows that the tasks report. */
final class LatencyAccumulator extends AccumulatorV2[Latencies, Latencies] {
  private val all = new Latencies

  override def isZero: Boolean = all.isEmpty
  override def reset(): Unit = all.clear()
  override def add(more: Latencies): Unit = all.add(more)
  override def merge(other: AccumulatorV2[Latencies, Latencies]): Unit = add(other.value)
  override def value: Latencies = all

  override def copy(): LatencyAccumulator = {
    val other = new LatencyAccumulator
    other.add(all)
    other
  }
}
