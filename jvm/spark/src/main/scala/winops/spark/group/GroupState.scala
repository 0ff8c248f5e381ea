package winops.spark.group

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.spark.plan.OperatorPlan
import winops.spark.state.StateVersion
import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.time.Clock

/** The state of one group: what its operation stores, the rows that wait, and the registered
  * timers. An instance is reused from group to group.
  *
  * @param storage
  *   where the operation stores rows and pages
  */
final class GroupState[+O <: Operation](
    plan: OperatorPlan,
    storage: GroupStorage,
    val operation: O) {
  import GroupState._

  private val pages = storage.pages
  private def now: Long = operation.clock.now

  /** The rows that have not been applied. */
  val arrivals = new ArrivalState(plan, storage)

  private var openKey: UnsafeRow = _

  /** The key of the group. */
  def key: UnsafeRow = openKey

  /** Sets the key of the group, before the group is restored or cleared. */
  def key_=(key: UnsafeRow): Unit = {
    openKey = key
    storage.select(key)
  }

  private val shownKeys = new ShownKey(plan)

  /** The key of the group as the output shows it. */
  def shownKey: UnsafeRow = shownKeys.of(openKey)

  /** Decides how the output shows the key, by a row that is about to be applied to a group that
    * is not alive. A row that the group does not take leaves the decision to the next one.
    */
  def begin(row: UnsafeRow): Unit = shownKeys.begin(row)

  /** The time of the group's registered timer, or [[Clock.Never]]. */
  var registeredTimer: Long = Clock.Never

  /** The time of the registered timer at which rows are out of reach, or [[Clock.Never]]. It is
    * not replaced when rows arrive, so each group has one such timer in the time that the
    * operation reaches back.
    */
  var reachTimer: Long = Clock.Never

  private def hasTimer: Boolean = registeredTimer != Clock.Never

  def isEmpty: Boolean = !operation.clock.isAlive && arrivals.size == 0

  /** The number of rows of the group, including waiting rows. */
  def held: Long = operation.held + arrivals.size

  /** The number of rows that wait for the watermark or for the rows that follow. */
  def waiting: Long = operation.waiting + arrivals.size

  /** The time at which the group has work to do even if no row arrives: the operation's or the
    * release of a waiting row; [[Clock.Never]] if there is neither.
    */
  def nextDue: Long = Math.min(operation.nextDue, arrivals.nextRelease)

  /** Removes the rows that no further row needs, as [[Operation.releaseOutOfReach]]. */
  def releaseOutOfReach(known: Long): Long = {
    val next = operation.releaseOutOfReach(known)
    if (arrivals.size == 0) next else Clock.Never
  }

  def clear(): Unit = {
    pages.clear()
    operation.clear()
    arrivals.clear()
    shownKeys.clear()
    registeredTimer = Clock.Never
    reachTimer = Clock.Never
  }

  /** Removes the rows and the pages of the open group, and its entry from the store. */
  def forget(): Unit = {
    operation.forget()
    pages.discard()
    storage.store.remove()
  }

  def save(out: ByteWriter): Unit = {
    operation.settle()
    pages.settle()
    val isRelease = hasTimer && registeredTimer == arrivals.nextRelease
    out.byte(StateVersion.Current)
    operation.clock.saveNow(out)
    out.byte(
      (if (isRelease) TimerOfRelease else if (hasTimer) OwnTimer else 0) |
        (if (pages.areUnused) 0 else HasPages) |
        arrivals.kind * ArrivalKind |
        (if (reachTimer == Clock.Never) 0 else ReachTimer))
    storage.reach(now)
    if (hasTimer && !isRelease) out.number(registeredTimer - now)
    if (reachTimer != Clock.Never) out.number(reachTimer - now)
    arrivals.save(out, now)
    if (!pages.areUnused) pages.saveNumber(out)
    operation.save(out)
    shownKeys.save(out)
  }

  def restore(in: ByteReader): Unit = {
    restoreRows(in)
    operation.restoreResults(in)
    restoreKey(in)
  }

  /** Restores the key that the output shows, which ends the value of a group. */
  private[group] def restoreKey(in: ByteReader): Unit = {
    shownKeys.restore(in)
    in.finish()
  }

  /** Restores everything but what the query computes, for readers that do not know the query. */
  def restoreRows(in: ByteReader): Unit = {
    StateVersion.check(in)
    operation.clock.restoreNow(in)
    val flags = in.byte() & 0xff
    storage.reach(now)
    registeredTimer = if ((flags & OwnTimer) != 0) now + in.number() else Clock.Never
    reachTimer = if ((flags & ReachTimer) != 0) now + in.number() else Clock.Never
    arrivals.restore(in, (flags & ~ReachTimer) / ArrivalKind, now)
    if ((flags & TimerOfRelease) != 0) registeredTimer = arrivals.nextRelease
    if ((flags & HasPages) != 0) pages.restore(in) else pages.clear()
    operation.restoreRows(in)
  }
}

object GroupState {

  // Flags, behind the version and the clock of a stored group.
  private val OwnTimer = 1
  private val TimerOfRelease = 2
  private val HasPages = 4
  private val ArrivalKind = 8
  private val ReachTimer = 128
}
