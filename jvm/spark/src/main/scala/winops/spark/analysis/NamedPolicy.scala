package winops.spark.analysis

import winops.policy.Policy
import winops.spark.expressions.PolicyExpressions

/** The policy of one of several windows, with its name and its resolved expressions.
  *
  * @param expressions
  *   the policy's expressions over the columns of the table
  */
private[spark] final case class NamedPolicy(
    name: String,
    policy: Policy,
    expressions: PolicyExpressions)
