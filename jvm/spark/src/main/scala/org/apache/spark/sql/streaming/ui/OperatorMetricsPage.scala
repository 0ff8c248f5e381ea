package org.apache.spark.sql.streaming.ui

import java.util.Locale

import scala.jdk.CollectionConverters._
import scala.xml.{Node, NodeBuffer}

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.streaming.state.StateStoreProvider
import org.apache.spark.sql.internal.SQLConf.STATE_STORE_PROVIDER_CLASS
import org.apache.spark.sql.internal.StaticSQLConf.ENABLED_STREAMING_UI_CUSTOM_METRIC_LIST
import org.apache.spark.sql.streaming.ui.UIUtils.parseProgressTimestamp
import org.apache.spark.ui.{GraphUIData, JsCollector, UIUtils => SparkUIUtils}

/** Spark's page of a streaming query, with graphs of the custom metrics of any operator.
  *
  * Spark's own page looks up each metric of `spark.sql.streaming.ui.enabledCustomMetricList`
  * among the metrics of the state store provider, and reads it from every stateful operator of
  * the query. It fails on metrics that an operator defines itself.
  *
  * @param parent
  *   the tab of the page
  * @param descriptions
  *   the description of each operator metric, by name
  */
private[sql] final class OperatorMetricsPage(
    parent: StreamingQueryTab,
    descriptions: Map[String, String])
    extends StreamingQueryStatisticsPage(parent) {
  private val conf = parent.parent.conf

  private val enabled =
    conf.get(ENABLED_STREAMING_UI_CUSTOM_METRIC_LIST).map(_.toLowerCase(Locale.ROOT)).toSet

  private val meanings: Map[String, String] = descriptions ++
    StateStoreProvider
      .create(conf.get(STATE_STORE_PROVIDER_CLASS))
      .supportedCustomMetrics
      .map(metric => metric.name -> metric.desc)

  override def generateAggregatedCustomMetrics(
      query: StreamingQueryUIData,
      minBatchTime: Long,
      maxBatchTime: Long,
      jsCollector: JsCollector): NodeBuffer = {
    val names = query.lastProgress.stateOperators.toSeq
      .flatMap(_.customMetrics.keySet.asScala)
      .distinct
      .filter(name => enabled.contains(name.toLowerCase(Locale.ROOT)))
    val rows = new NodeBuffer
    names.foreach { name =>
      val values = query.recentProgress.toSeq.map { progress =>
        val ofOperators =
          progress.stateOperators.flatMap(operator => Option(operator.customMetrics.get(name)))
        (parseProgressTimestamp(progress.timestamp), ofOperators.map(_.toDouble).sum)
      }
      rows += row(name, values, minBatchTime, maxBatchTime, jsCollector)
    }
    rows
  }

  private def row(
      name: String,
      values: Seq[(Long, Double)],
      minBatchTime: Long,
      maxBatchTime: Long,
      jsCollector: JsCollector): Node = {
    val timeline = s"aggregated-$name-timeline"
    val histogram = s"aggregated-$name-histogram"
    val graph = new GraphUIData(
      timeline,
      histogram,
      values,
      minBatchTime,
      maxBatchTime,
      0,
      values.map(_._2).max,
      "")
    graph.generateDataJs(jsCollector)
    val tooltip = SparkUIUtils.tooltip(meanings.getOrElse(name, name), "right")
    <tr>
      <td style="vertical-align: middle;">
        <div style="width: 240px;">
          <div><strong>Aggregated Custom Metric {name} {tooltip}</strong></div>
        </div>
      </td>
      <td class={timeline}>{graph.generateTimelineHtml(jsCollector)}</td>
      <td class={histogram}>{graph.generateHistogramHtml(jsCollector)}</td>
    </tr>
  }
}

object OperatorMetricsPage {

  /** Replaces Spark's page, once, if the setting names any metrics. */
  def install(descriptions: Map[String, String]): Unit = synchronized {
    for {
      context <- SparkContext.getActive
      ui <- context.ui if context.conf.get(ENABLED_STREAMING_UI_CUSTOM_METRIC_LIST).nonEmpty
      tab <- ui.getTabs.collect { case tab: StreamingQueryTab => tab }
      old <- tab.pages.toSeq.collect { case page: StreamingQueryStatisticsPage => page }
      if !old.isInstanceOf[OperatorMetricsPage]
    } {
      ui.detachPage(old)
      tab.pages -= old
      val page = new OperatorMetricsPage(tab, descriptions)
      tab.attachPage(page)
      ui.attachPage(page)
    }
  }
}
