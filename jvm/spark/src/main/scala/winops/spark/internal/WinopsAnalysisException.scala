package winops.spark.internal

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.trees.Origin

/** An analysis error of a `keep` call.
  *
  * The exception has no query context, because Python shows the message unchanged only without
  * one.
  */
final class WinopsAnalysisException(condition: String, parameters: Map[String, String])
    extends AnalysisException(
      condition,
      WinopsErrors.sqlState(condition),
      WinopsErrors.template(condition),
      parameters,
      None,
      Some(WinopsErrors.message(condition, parameters))) {
  override def withPosition(origin: Origin): AnalysisException = this
}
