package winops.spark.internal

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.trees.Origin

/** A `keep` that is refused before it runs.
  *
  * Python shows the message as it is only if there is no query context, so none is added.
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
