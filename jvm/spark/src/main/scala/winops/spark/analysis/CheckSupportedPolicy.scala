package winops.spark.analysis

import winops.policy.Policy
import winops.spark.internal.WinopsErrors
import winops.window.machine.Machine

/** Refuses policies that the machine cannot run, so that none fails in a task. */
private[spark] object CheckSupportedPolicy {
  def apply(policy: Policy): Unit = Machine.unsupported(policy).foreach { reason =>
    throw (
      if (!policy.isKeyed)
        WinopsErrors.analysis(
          "WINOPS_UNSUPPORTED_POLICY",
          "policy" -> policy.text,
          "reason" -> reason)
      else
        Machine.unsupported(policy.copy(buffer = 0L)) match {
          case None =>
            WinopsErrors.analysis(
              "WINOPS_BUFFER_WINDOW",
              "policy" -> policy.text,
              "reason" -> reason)
          case Some(ofKey) =>
            WinopsErrors.analysis("WINOPS_KEY_WINDOW", "policy" -> policy.text, "reason" -> ofKey)
        }
    )
  }
}
