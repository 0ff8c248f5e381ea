package winops.window.crossgroup

import winops.policy.Policy
import winops.window.changes.Steps
import winops.window.machine.Machine

/** Runs a policy whose groups depend on each other over all of them, on one clock.
  *
  * @param steps
  *   numbers the steps of all groups together
  * @param host
  *   keeps the groups
  */
final class CrossGroupMachines[G](policy: Policy, steps: Steps, host: CrossGroupMachines.Host[G]) {
  private val index = new CrossGroupIndex[G](policy.group.reclaim)
  private var clock = Long.MinValue
  private var finished = false
  private var reclaimed = 0L

  /** Number of groups that were dropped without deletes for their silence. */
  def groupsReclaimed: Long = reclaimed

  /** All groups, for whoever stores them. */
  def groups: CrossGroupIndex[G] = index

  /** Whether the input has ended, so that nothing happens any more. */
  def isFinished: Boolean = finished

  /** The instant up to which time has passed, in milliseconds. */
  def now: Long = clock

  /** Takes up where a run before has stopped. */
  def resume(now: Long, isFinished: Boolean): Unit = {
    clock = now
    finished = isFinished
  }

  /** Moves the clock to `instant`, if it is not there yet, and fires all that is due by then. */
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

  /** A row that is stamped with `instant` comes to the group, where `append` adds it to the rows
    * as of the instant that it is given.
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

  /** A window punctuation comes for all groups. */
  def punctuate(instant: Long): Unit = tellAll(instant)(_.punctuate(_))

  /** The input ends for all groups. */
  def finish(instant: Long): Unit = {
    tellAll(instant)(_.finish(_))
    finished = true
  }

  private def tellAll(instant: Long)(tell: (Machine, Long) => Unit): Unit = if (!finished) {
    val at = Math.max(instant, clock)
    advance(at)
    index.inOrderOfCreation.foreach { group =>
      val machine = host.open(group)
      machine.reach(at)
      tell(machine, at)
      host.drain(group)
      update(group, machine)
    }
  }

  private def reclaim(group: G): Unit = {
    steps.evictSilently(index.heldBy(group))
    reclaimed += 1
    drop(group)
  }

  /** Evicts groups if there are too many groups or rows: first all empty ones to which rows came
    * least recently, as the product does, then others until there are not too many.
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

  /** Keeps the groups, each with a machine and its rows. */
  trait Host[G] {

    /** The machine of a group, which is new if it was not there. */
    def open(group: G): Machine

    /** Reads the changes that the machine of the group has emitted. */
    def drain(group: G): Unit

    /** Forgets a group. */
    def drop(group: G): Unit
  }
}
