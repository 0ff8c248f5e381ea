package winops.spark.analysis

import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement

import winops.spark.internal.WinopsErrors
import winops.spark.over.Watermarks

/** Refuses real-time mode, which has operators with state from Spark 4.3 on. */
private[analysis] object CheckRealTime {
  def apply(start: WriteToStreamStatement): Unit = throw WinopsErrors.analysis(
    "WINOPS_REAL_TIME.SPARK_VERSION",
    "operator" -> Watermarks.operator(start.inputQuery).fold("keep")(_.spec.namedInQuery),
    "version" -> SPARK_VERSION)
}
