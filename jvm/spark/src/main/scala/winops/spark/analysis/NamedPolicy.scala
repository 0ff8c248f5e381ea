package winops.spark.analysis

import winops.policy.Policy
import winops.spark.expressions.PolicyExpressions

/** One of several windows as it was called and understood. */
private[spark] final case class NamedPolicy(
    name: String,
    policy: Policy,
    expressions: PolicyExpressions)
