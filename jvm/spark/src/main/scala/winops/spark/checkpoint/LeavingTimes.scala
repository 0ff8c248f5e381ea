package winops.spark.checkpoint

import scala.collection.mutable

import winops.policy.Policy
import winops.window.changes.{ChangeKind, ChangeQueue}
import winops.window.machine.Machine
import winops.window.time.Clock

/** When rows leave their windows if no row comes any more, found out by letting time pass.
  *
  * @param windows
  *   the number of windows
  */
private[spark] final class LeavingTimes(
    policy: Policy,
    idle: Long,
    windows: Int,
    changes: ChangeQueue) {
  private val times = Array.fill(windows)(mutable.LongMap.empty[Long])
  private val mayLeave = idle != Clock.Never || policy.usesTime

  /** Lets time pass for a machine, whose content is not what it was after that. */
  def learn(machine: Machine): Unit = {
    times.foreach(_.clear())
    var stepsWithout = 0
    while (mayLeave && machine.held > 0 && machine.nextDue != Clock.Never &&
      stepsWithout < LeavingTimes.MaxStepsWithout) {
      val _ = machine.fireNext(machine.nextDue)
      if (readLeaving()) stepsWithout = 0 else stepsWithout += 1
    }
  }

  /** When the row with this ordinal leaves the window with this number, in milliseconds;
    * [[Clock.Never]] if time alone does not make it leave.
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

  /** Windows may tell their content again and again, though no row leaves. */
  val MaxStepsWithout = 1000
}
