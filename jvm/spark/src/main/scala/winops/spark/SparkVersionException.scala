package winops.spark

import org.apache.spark.QueryContext
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.trees.Origin

import winops.spark.internal.WinopsErrors

/** The error for a Spark version that the JAR does not support.
  *
  * The exception is thrown on such versions, so it may use only constructors of AnalysisException
  * that exist in all of them: here the one that takes the finished message.
  */
final class SparkVersionException(parameters: Map[String, String])
    extends AnalysisException(
      WinopsErrors.message("WINOPS_SPARK_VERSION", parameters),
      None,
      None,
      None,
      Some("WINOPS_SPARK_VERSION"),
      parameters,
      Array.empty[QueryContext]) {
  override def getSqlState: String = WinopsErrors.sqlState("WINOPS_SPARK_VERSION")
  override def withPosition(origin: Origin): AnalysisException = this
}
