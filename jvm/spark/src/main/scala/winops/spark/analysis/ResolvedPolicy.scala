package winops.spark.analysis

import winops.policy.Policy
import winops.spark.expressions.PolicyExpressions

/** A parsed policy with its resolved expressions.
  *
  * @param expressions
  *   the policy's expressions over the columns of the table
  * @param splitKeys
  *   the number of group keys, the last ones, that are not in the policy's text and split its
  *   groups
  * @param projected
  *   the aggregates of the policy's projection
  */
private[spark] final case class ResolvedPolicy(
    policy: Policy,
    expressions: PolicyExpressions,
    splitKeys: Int = 0,
    projected: Option[Aggregates] = None) {

  /** The number of group keys in the policy's text. */
  def keysInText: Int = policy.group.keys.size - splitKeys
}
