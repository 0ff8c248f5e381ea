package winops.window.crossgroup

import winops.window.changes.ChangeQueue
import winops.window.machine.Machine

/** Runs a cross-group policy over all its groups, with one clock for all.
  *
  * A call returns its work piece by piece, as an iterator. The changes of a piece are those of
  * one group; the caller reads them, and removes the rows that left, before it asks for the next
  * piece. It finishes the pieces of one call before it makes another.
  *
  * @param changes
  *   numbers the steps of all groups together, and receives their changes
  * @param groups
  *   the index of all groups
  * @param host
  *   stores the groups
  */
final class CrossGroupMachines[G](
    changes: ChangeQueue,
    val groups: CrossGroupIndex[G],
    host: CrossGroupMachines.Host[G]) {
  private var clock = Long.MinValue
  private var finished = false
  private var reclaimed = 0L

  /** The rest of the piece of work whose changes the caller is reading. */
  private var rest: () => Unit = CrossGroupMachines.Nothing

  /** Number of idle groups that a sweep removed without deletes. */
  def groupsReclaimed: Long = reclaimed

  /** Returns true if the input has ended, so that no row or timer has an effect. */
  def isFinished: Boolean = finished

  /** The clock of all groups, in milliseconds. */
  def now: Long = clock

  /** Restores the clock and the end of the input from an earlier run. */
  def resume(now: Long, isFinished: Boolean): Unit = {
    clock = now
    finished = isFinished
  }

  /** Notes the earliest timer of a group anew, because a restart has changed the rule of it. */
  def reschedule(group: G): Unit = {
    val machine = host.open(group)
    machine.clock.reach(clock)
    groups.changed(group, clock, machine.held, machine.nextDue)
  }

  /** Moves the clock to `instant`, unless it is later, and fires all timers up to that instant.
    */
  def advance(instant: Long): Iterator[G] =
    if (finished) Iterator.empty
    else fired(instant) ++ afterwards { clock = Math.max(clock, instant) }

  /** Inserts a row with timestamp `instant` into the group.
    *
    * @param append
    *   appends the row to the group's rows; receives the row's arrival time
    */
  def arrive(group: G, instant: Long)(append: Long => Unit): Iterator[G] =
    if (finished) Iterator.empty
    else {
      val at = Math.max(instant, clock)
      advance(at) ++
        afterwards { sweep(at) } ++
        piece(group)(insert(group, at, append)) ++
        dismissals(at) ++
        afterwards { changes.endStep() }
    }

  /** Handles a window punctuation for all groups. */
  def punctuate(instant: Long): Iterator[G] = emitAll(instant)(_.punctuate(_))

  /** Ends the input for all groups. */
  def finish(instant: Long): Iterator[G] =
    emitAll(instant)(_.finish(_)) ++ afterwards { finished = true }

  private def fired(until: Long): Iterator[G] = new Iterator[G] {
    override def hasNext: Boolean = {
      complete()
      groups.isDueAt(until)
    }

    override def next(): G = {
      if (!hasNext) throw new NoSuchElementException
      val group = groups.firstDue
      val machine = host.open(group)
      val due = groups.dueOf(group)
      val _ = machine.fireNext(due)
      rest = () => update(group, machine, due)
      group
    }
  }

  private def sweep(at: Long): Unit = if (groups.startsSweep(at)) {
    while (groups.oldestIsSilent(at)) reclaim(groups.oldest)
  }

  private def insert(group: G, at: Long, append: Long => Unit): () => Unit = {
    changes.beginStep(at)
    val machine = host.open(group)
    machine.clock.reach(at)
    append(at)
    val comesIn = machine.arrive(at)
    () => {
      if (comesIn || groups.countsRefusedRows && machine.clock.isAlive) {
        groups.arrived(group, at, machine.held, machine.nextDue)
      }
      if (!machine.clock.isAlive) remove(group)
    }
  }

  private def emitAll(instant: Long)(emit: (Machine, Long) => Unit): Iterator[G] =
    if (finished) Iterator.empty
    else {
      val at = Math.max(instant, clock)
      advance(at) ++ groups.inOrderOfCreation.flatMap { group =>
        piece(group) {
          val machine = host.open(group)
          machine.clock.reach(at)
          emit(machine, at)
          () => update(group, machine, at)
        }
      }
    }

  private def reclaim(group: G): Unit = {
    changes.evictSilently(groups.heldBy(group))
    reclaimed += 1
    remove(group)
  }

  /** Removes groups if there are more groups or rows than the policy allows. As the product does,
    * empty groups with the least recent arrivals go first, up to the first group with rows;
    * others follow until the limit holds.
    */
  private def dismissals(at: Long): Iterator[G] = new Iterator[G] {
    private var takesEmpty = false
    private var isFirst = true

    override def hasNext: Boolean = {
      complete()
      if (isFirst) takesEmpty = groups.isTooMuch
      isFirst = false
      takesEmpty &&= groups.oldestIsEmpty
      takesEmpty || groups.isTooMuch
    }

    override def next(): G = {
      if (!hasNext) throw new NoSuchElementException
      val group = groups.oldest
      host.open(group).dismiss(at)
      rest = () => remove(group)
      group
    }
  }

  private def update(group: G, machine: Machine, at: Long): Unit =
    if (machine.clock.isAlive) groups.changed(group, at, machine.held, machine.nextDue)
    else remove(group)

  private def remove(group: G): Unit = {
    groups.removed(group)
    host.drop(group)
  }

  /** One piece of work.
    *
    * @param work
    *   makes changes of the group, and returns what is to be done when they have been read
    */
  private def piece(group: G)(work: => () => Unit): Iterator[G] = new Iterator[G] {
    private var isDone = false

    override def hasNext: Boolean = {
      complete()
      !isDone
    }

    override def next(): G = {
      if (!hasNext) throw new NoSuchElementException
      isDone = true
      rest = work
      group
    }
  }

  /** Work that makes no changes. */
  private def afterwards(work: => Unit): Iterator[G] = {
    complete()
    work
    Iterator.empty
  }

  private def complete(): Unit = {
    val now = rest
    rest = CrossGroupMachines.Nothing
    now()
  }
}

object CrossGroupMachines {

  /** Stores the groups, each with a machine and its rows. */
  trait Host[G] {

    /** The machine of a group; a new machine if the group is unknown. */
    def open(group: G): Machine

    /** Deletes the state of a group. */
    def drop(group: G): Unit
  }

  private val Nothing: () => Unit = () => ()
}
