package winops.spark.checkpoint

import scala.collection.mutable

import winops.policy.Policy
import winops.window.changes.{ChangeKind, ChangeQueue}
import winops.window.machine.Machine
import winops.window.time.Clock

/** Finds the times at which rows will be evicted from their windows if no row arrives any more,
  * by firing the timers of a machine.
  *
  * @param idle
  *   after how much silence a group is forgotten, in milliseconds; [[Clock.Never]] for never
  * @param windows
  *   the number of windows
  * @param changes
  *   queue to which the machine writes its changes
  */
private[spark] final class LeavingTimes(
    policy: Policy,
    idle: Long,
    windows: Int,
    changes: ChangeQueue) {
  private val times = Array.fill(windows)(mutable.LongMap.empty[Long])
  private val mayLeave = idle != Clock.Never || policy.usesTime

  /** Fires the timers of a machine and records the first eviction of each row in each window. The
    * machine's contents are changed by this.
    */
  def learn(machine: Machine): Unit = {
    times.foreach(_.clear())
    var stepsWithout = 0
    while (mayLeave && machine.held > 0 && machine.nextDue != Clock.Never &&
      stepsWithout < LeavingTimes.MaxStepsWithout) {
      // Reports in between are passed over.
      val _ = machine.fireNext(Math.max(machine.nextDue, LeavingTimes.LastInstant))
      if (readLeaving()) stepsWithout = 0 else stepsWithout += 1
    }
  }

  /** The time at which the row is evicted from the window, in milliseconds; [[Clock.Never]] if
    * time alone does not evict the row.
    */
  def of(window: Int, ordinal: Long): Long = times(window).getOrElse(ordinal, Clock.Never)

  private def readLeaving(): Boolean = {
    var some = false
    while (!changes.isEmpty) {
      changes.next()
      if (changes.kind == ChangeKind.Delete || changes.kind == ChangeKind.GroupDelete) {
        some = true
        val known = times(changes.window)
        if (!known.contains(changes.ordinal)) known.update(changes.ordinal, changes.at)
      }
    }
    some
  }
}

private object LeavingTimes {

  /** Limit on consecutive timers that evict no row: windows may report their contents again and
    * again.
    */
  val MaxStepsWithout = 1000

  /** The end of the year 9999, in milliseconds. */
  val LastInstant = 253402300799999L
}
