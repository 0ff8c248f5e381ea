package winops.spark.harness

import org.apache.spark.sql.execution.metric.SQLMetric

import winops.spark.internal.KeepMetrics

/** The metrics of a window without a Spark application. */
private[harness] final class Metrics private (counters: Map[String, SQLMetric]) {
  val ofTask: KeepMetrics = new KeepMetrics(counters)

  /** The values by name, without those that are 0. */
  def values: Map[String, Long] = counters.view.mapValues(_.value).filter(_._2 > 0).toMap
}

private[harness] object Metrics {
  // Spark defines the last two for every stateful operator.
  def create(): Metrics = new Metrics(
    (KeepMetrics.own.map(_._1) ++ Seq("numOutputRows", "numRowsDroppedByWatermark"))
      .map(_ -> new SQLMetric("sum"))
      .toMap)
}
