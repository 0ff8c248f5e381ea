package winops.spark.execution

import org.apache.spark.util.AccumulatorV2

import winops.spark.execution.PartitionMetricsAccumulator.Metrics

/** Accumulates the values of metrics by partition of the state. The last run of a partition
  * replaces the values of earlier ones, so a micro-batch that runs twice, as `foreachBatch` may
  * run it, counts once. Spark's metrics add up all runs.
  */
final class PartitionMetricsAccumulator extends AccumulatorV2[(Int, Metrics), Metrics] {
  private var partitions = Map.empty[Int, Metrics]

  override def isZero: Boolean = partitions.isEmpty
  override def reset(): Unit = partitions = Map.empty
  override def add(ofPartition: (Int, Metrics)): Unit = partitions += ofPartition

  override def merge(other: AccumulatorV2[(Int, Metrics), Metrics]): Unit = other match {
    case more: PartitionMetricsAccumulator => partitions ++= more.partitions
    case _ => throw new UnsupportedOperationException(s"metrics of ${other.getClass.getName}")
  }

  /** The sums over all partitions. */
  override def value: Metrics = partitions.valuesIterator.flatten.toSeq
    .groupMapReduce { case (name, _) => name } { case (_, value) => value }(_ + _)

  override def copy(): PartitionMetricsAccumulator = {
    val other = new PartitionMetricsAccumulator
    other.partitions = partitions
    other
  }
}

object PartitionMetricsAccumulator {

  /** The values of metrics by their names. */
  type Metrics = Map[String, Long]
}
