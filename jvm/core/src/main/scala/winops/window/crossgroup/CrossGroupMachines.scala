package winops.window.crossgroup

import winops.policy.Policy
import winops.window.changes.Steps
import winops.window.machine.Machine

/** Runs a cross-group policy over all its groups, with one clock for all.
  *
  * @param steps
  *   numbers the steps of all groups together
  * @param host
  *   stores the groups
  */
final class CrossGroupMachines[G](
    policy: Policy,
    steps: Steps,
    host: CrossGroupMachines.Host[G]) {
  private val index = new CrossGroupIndex[G](policy.group.reclaim)
  private var clock = Long.MinValue
  private var finished = false
  private var reclaimed = 0L

  /** Number of idle groups that a sweep removed without deletes. */
  def groupsReclaimed: Long = reclaimed

  /** The index of all groups, for the code that stores it. */
  def groups: CrossGroupIndex[G] = index

  /** Returns true if the input has ended, so that no row or timer has an effect. */
  def isFinished: Boolean = finished

  /** The clock of all groups, in milliseconds. */
  def now: Long = clock

  /** Restores the clock and the end of the input from an earlier run. */
  def resume(now: Long, isFinished: Boolean): Unit = {
    clock = now
    finished = isFinished
  }

  /** Moves the clock to `instant`, unless it is later, and fires all timers up to that instant.
    */
  def advance(instant: Long): Unit = if (!finished) {
    while (index.nextDue <= instant) {
      val group = index.firstDue
      val machine = host.open(group)
      val _ = machine.fireNext(index.nextDue)
      host.drain(group)
      update(group, machine)
    }
    clock = Math.max(clock, instant)
  }

  /** Inserts a row with timestamp `instant` into the group.
    *
    * @param append
    *   appends the row to the group's rows; receives the row's arrival time
    */
  def arrive(group: G, instant: Long)(append: Long => Unit): Unit = if (!finished) {
    val at = Math.max(instant, clock)
    advance(at)
    index.sweptBefore(at).foreach(reclaim)
    steps.begin(at)
    val machine = host.open(group)
    machine.reach(at)
    append(at)
    val comesIn = machine.arrive(at)
    host.drain(group)
    if (comesIn || index.countsRefusedRows && machine.isAlive) {
      index.arrived(group, at, machine.held, machine.nextDue)
    }
    if (!machine.isAlive) drop(group)
    makeRoom(at)
    steps.end()
  }

  /** Handles a window punctuation for all groups. */
  def punctuate(instant: Long): Unit = emitAll(instant)(_.punctuate(_))

  /** Ends the input for all groups. */
  def finish(instant: Long): Unit = {
    emitAll(instant)(_.finish(_))
    finished = true
  }

  private def emitAll(instant: Long)(emit: (Machine, Long) => Unit): Unit = if (!finished) {
    val at = Math.max(instant, clock)
    advance(at)
    index.inOrderOfCreation.foreach { group =>
      val machine = host.open(group)
      machine.reach(at)
      emit(machine, at)
      host.drain(group)
      update(group, machine)
    }
  }

  private def reclaim(group: G): Unit = {
    steps.evictSilently(index.heldBy(group))
    reclaimed += 1
    drop(group)
  }

  /** Removes groups if there are more groups or rows than the policy allows. As the product does,
    * empty groups with the least recent arrivals go first, up to the first group with rows;
    * others follow until the limit holds.
    */
  private def makeRoom(at: Long): Unit = if (index.isTooMuch) {
    while (index.oldestIsEmpty) dismissOldest(at)
    while (index.isTooMuch) dismissOldest(at)
  }

  private def dismissOldest(at: Long): Unit = {
    val group = index.oldest
    host.open(group).dismiss(at)
    host.drain(group)
    drop(group)
  }

  private def update(group: G, machine: Machine): Unit =
    if (machine.isAlive) index.changed(group, machine.held, machine.nextDue) else drop(group)

  private def drop(group: G): Unit = {
    index.removed(group)
    host.drop(group)
  }
}

object CrossGroupMachines {

  /** Stores the groups, each with a machine and its rows. */
  trait Host[G] {

    /** The machine of a group; a new machine if the group is unknown. */
    def open(group: G): Machine

    /** Reads the changes that the group's machine has emitted. */
    def drain(group: G): Unit

    /** Deletes the state of a group. */
    def drop(group: G): Unit
  }
}
