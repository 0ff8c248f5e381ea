package winops.spark

import winops.policy.Policy

/** One of several windows as it was called and understood. */
private[spark] final case class NamedPolicy(
    name: String,
    policy: Policy,
    expressions: PolicyExpressions)
