package winops.spark.group

import winops.spark.internal.WinopsErrors
import winops.spark.plan.KeepSpec

/** Limits the timers of a group that fire one after the other without a change of its rows. A row
  * with a wrong time, or a long silence, would make a window with forced triggers or reports fire
  * for hours.
  *
  * @param held
  *   returns the number of rows, which grows with an arriving row only
  */
private[spark] final class EmptyPeriods(spec: KeepSpec, held: () => Long) {
  private var count = 0L
  private var heldAtFirst = 0L

  /** Starts again, with another group or another row. */
  def clear(): Unit = count = 0L

  /** Counts a timer that fired.
    *
    * @param groups
    *   the number of groups whose timers are counted together
    * @throws WinopsRuntimeException
    *   `WINOPS_EMPTY_PERIODS` after too many timers without a change
    */
  def note(groups: Long = 1): Unit = {
    // Asking for the number of rows at each timer would cost as much as firing it.
    if (count == 0) heldAtFirst = held()
    count += 1
    if (count > EmptyPeriods.Limit * Math.max(1, groups)) {
      if (held() == heldAtFirst) {
        throw WinopsErrors.runtime(
          "WINOPS_EMPTY_PERIODS",
          "limit" -> EmptyPeriods.Limit.toString,
          "output" -> spec.output.name)
      }
      clear()
    }
  }
}

private[spark] object EmptyPeriods {

  /** Periods of a second for 11 days. */
  val Limit = 1000000L
}
