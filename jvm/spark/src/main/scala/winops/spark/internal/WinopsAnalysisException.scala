package winops.spark.internal

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.trees.Origin

import winops.policy.PolicyError

/** An analysis error of a `keep` call.
  *
  * The exception has no query context, because Python shows the message unchanged only without
  * one.
  *
  * @param policyError
  *   the mistake in the text of a policy, if that is the error
  */
final class WinopsAnalysisException(
    condition: String,
    parameters: Map[String, String],
    @transient val policyError: Option[PolicyError] = None)
    extends AnalysisException(
      condition,
      WinopsErrors.sqlState(condition),
      WinopsErrors.template(condition),
      parameters,
      None,
      Some(WinopsErrors.message(condition, parameters))) {
  override def withPosition(origin: Origin): AnalysisException = this
}
