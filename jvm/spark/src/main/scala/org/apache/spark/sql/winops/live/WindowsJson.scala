package org.apache.spark.sql.winops.live

import org.json4s.JsonAST._

import winops.spark.live.{LiveMetric, QueryHistory, WindowHistory, WindowSample}

/** Writes the runs of queries as JSON. */
private[live] object WindowsJson {

  /** The object with all runs, in the order of their start. */
  def of(queries: Seq[QueryHistory]): JValue =
    JObject("queries" -> JArray(queries.map(query).toList))

  private def query(query: QueryHistory): JValue = JObject(
    "name" -> text(query.name),
    "id" -> text(query.id.map(_.toString)),
    "runId" -> JString(query.run.toString),
    "status" -> JString(query.status.name),
    "batchId" -> JLong(query.batch),
    "batches" -> JLong(query.batches),
    "processedRowsPerSecond" -> JDouble(query.rowsPerSecond),
    "watermark" -> text(query.watermark),
    "newestEventTime" -> text(query.newest),
    "windows" -> JArray(query.windows.map(window).toList))

  private def window(window: WindowHistory): JValue = JObject(
    "operatorId" -> JLong(window.operatorId),
    "policy" -> JString(window.policy),
    "description" -> JString(window.description),
    "metrics" -> JObject(
      LiveMetric.all.map(metric => metric.name -> JDouble(metric.of(window))).toList),
    "alerts" -> JArray(window.alerts.map(JString(_)).toList),
    "largestGroups" -> JArray(
      window.seen
        .map(group =>
          JObject(
            "group" -> JString(group.key),
            "rows" -> JLong(group.rows),
            "batchId" -> JLong(group.batch)))
        .toList),
    "history" -> JArray(window.samples.map(sample).toList))

  private def sample(sample: WindowSample): JValue = JObject(
    "batchId" -> JLong(sample.batch),
    "batchMillis" -> JLong(sample.millis),
    "numInputRows" -> JLong(sample.rowsRead),
    "rowsInserted" -> JLong(sample.inserted),
    "rowsDeleted" -> JLong(sample.deleted),
    "rowsHeld" -> JLong(sample.held),
    "groups" -> JLong(sample.groups),
    "rowsWaiting" -> JLong(sample.waiting),
    "rowsOfLargestGroup" -> JLong(sample.largest),
    "rowsLate" -> JLong(sample.late),
    "rowsRefused" -> JLong(sample.refused),
    "rowsDropped" -> JLong(sample.dropped),
    "stateBytesWritten" -> JLong(sample.bytesWritten),
    "rowLatencyMicrosP50" -> JLong(sample.latencyP50),
    "rowLatencyMicrosP99" -> JLong(sample.latencyP99))

  private def text(value: Option[String]): JValue = value.fold[JValue](JNull)(JString(_))
}
