package org.apache.spark.sql.winops.live

import java.util.UUID

import com.codahale.metrics.{Gauge, MetricRegistry}

import org.apache.spark.metrics.source.Source

import winops.spark.live.{LiveMetric, LiveQueries, QueryHistory}

/** The gauges of the operators of one run of a query. Their names are
  * `winops.<query>.windows.<operator>.<metric>`, where `query` is the name of the query, or its
  * id if it has none, see [[LiveQueries.gaugeTitle]], and `operator` the operator's number in the
  * query.
  *
  * @param queries
  *   the runs, from which a gauge reads its number
  */
private[live] final class LiveGauges(query: QueryHistory, queries: LiveQueries) extends Source {
  val run: UUID = query.run

  // The registry finds the gauges of an ended query by the start of their names, which must not be
  // the start of another query's.
  override val sourceName: String = s"winops.${queries.gaugeTitle(query)}.windows"

  override val metricRegistry: MetricRegistry = new MetricRegistry

  for (window <- query.windows; metric <- LiveMetric.all) {
    val _ = metricRegistry.register(
      MetricRegistry.name(window.operatorId.toString, metric.name),
      new Gauge[Double] {
        override def getValue: Double = queries
          .get(run)
          .flatMap(_.windows.find(_.operatorId == window.operatorId))
          .fold(0.0)(metric.of)
      })
  }
}
