package winops.spark.group

import winops.spark.internal.WinopsErrors
import winops.spark.plan.KeepSpec

/** Limits the timers of a group that fire one after the other while no row enters or leaves. A
  * row with a wrong time, or a long silence, would make a window with forced triggers or reports
  * fire for hours.
  */
private[spark] final class EmptyPeriods(spec: KeepSpec) {
  private var count = 0L

  /** Starts again, with another group or another row. */
  def clear(): Unit = count = 0L

  /** Counts a timer that fired.
    *
    * @param changed
    *   true if a row has entered or left a window
    * @param groups
    *   the number of groups whose timers are counted together
    * @throws WinopsRuntimeException
    *   `WINOPS_EMPTY_PERIODS` after too many timers without a change
    */
  def note(changed: Boolean, groups: Long = 1): Unit =
    if (changed) count = 0L
    else {
      count += 1
      if (count > EmptyPeriods.Limit * Math.max(1, groups)) {
        throw WinopsErrors.runtime(
          "WINOPS_EMPTY_PERIODS",
          "limit" -> EmptyPeriods.Limit.toString,
          "output" -> spec.output.name)
      }
    }
}

private[spark] object EmptyPeriods {

  /** Periods of a second for 11 days. */
  val Limit = 1000000L
}
