package winops.spark.analysis

import winops.policy.Policy
import winops.spark.internal.WinopsErrors
import winops.window.machine.Machine

/** Refuses policies that the machine cannot run, so that none fails in a task. */
private[spark] object CheckSupportedPolicy {
  def apply(policy: Policy): Unit = Machine.unsupported(policy).foreach { reason =>
    throw WinopsErrors.analysis(
      if (!policy.isKeyed) "WINOPS_UNSUPPORTED_POLICY"
      else if (Machine.unsupported(policy.copy(buffer = 0L)).isEmpty) "WINOPS_BUFFER_WINDOW"
      else "WINOPS_KEY_WINDOW",
      "policy" -> policy.text,
      "reason" -> reason)
  }
}
