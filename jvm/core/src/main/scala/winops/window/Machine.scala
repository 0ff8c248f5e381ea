package winops.window

import winops.log.{ByteReader, ByteWriter}
import winops.policy.Policy

/** Runs a policy over the rows of one group, and writes what happens as steps into a queue.
  *
  * A step is one arriving row with everything it causes, or one timer at its own due time. The
  * machine is told of rows and of time and never looks at a clock: the same rows at the same
  * instants give the same steps, however they are cut into batches.
  *
  * An instance is reused from group to group: [[restore]] or [[clear]] starts the next one.
  *
  * @param policy
  *   what to keep
  * @param idleMillis
  *   after how much silence the group is forgotten, with deletes for the rows it held;
  *   [[Machine.Never]] for a group that is never forgotten
  * @param rows
  *   the group's rows; for each row the clock is moved by [[advance]], then the row is appended,
  *   then [[arrive]] tells of it
  * @param changes
  *   where the changes go
  */
final class Machine(policy: Policy, idleMillis: Long, rows: Rows, changes: ChangeQueue) {
  import Machine._

  private val leave = Leave.of(policy)
  private var clock = Long.MinValue
  private var lastArrival = Long.MinValue
  private var head = 0L
  private var alive = false
  private var steps = 0L
  private var sequence = 0L
  private var forgotten = 0L

  /** How many groups this instance has forgotten for their silence. */
  def groupsForgotten: Long = forgotten

  /** Whether there is anything to remember of the group. */
  def isAlive: Boolean = alive

  /** The ordinal of the oldest row in the window; rows before it may be forgotten. */
  def oldest: Long = head

  /** How many rows the window holds. */
  def size: Long = rows.end - head

  /** The instant up to which time has passed for the group, in milliseconds. */
  def now: Long = clock

  /** The first instant at which something happens though no row arrives; [[Machine.Never]] if
    * nothing does.
    */
  def nextDue: Long =
    if (alive) Math.min(leave.due(this), idleDue) else Never

  /** Moves the clock to `instant`, if it is not there yet, and fires all that is due by then,
    * earliest first. What is due at the instant itself fires: time goes before rows.
    */
  def advance(instant: Long): Unit = while (fireNext(instant)) {}

  /** The next piece of [[advance]]: fires what is due first, if it is due by `instant`; false,
    * with the clock at the instant, when nothing is.
    */
  def fireNext(instant: Long): Boolean = {
    val due = nextDue
    val fires = due <= instant
    if (fires) {
      if (leave.due(this) == due) {
        leave.atDue(this, due)
        steps += 1
      } else forget(due)
    } else reach(instant)
    fires
  }

  /** Moves the clock to `instant`, by which nothing was due that has not been fired. */
  def reach(instant: Long): Unit = if (instant > clock) clock = instant

  /** When a row that is stamped with `instant` arrives: then, or now if its group's clock is
    * later. The clock never goes back, and no row is lost for being late.
    */
  def arrivalAt(instant: Long): Long = Math.max(instant, clock)

  /** Takes in the newest of `rows`, which arrived at `at`, where [[advance]] has moved the clock.
    */
  def arrive(at: Long): Unit = {
    alive = true
    lastArrival = at
    changes.add(isInsert = true, rows.end - 1, rows.end, at, steps, sequence)
    sequence += 1
    leave.afterRow(this, at)
    steps += 1
  }

  /** Starts with a group that has no rows yet. */
  def clear(): Unit = {
    clock = Long.MinValue
    startAfresh()
  }

  def save(out: ByteWriter): Unit = {
    out.byte(if (alive) 1 else 0)
    out.number(clock)
    out.number(lastArrival)
    out.number(steps)
    out.number(sequence)
    leave.save(out)
  }

  /** Takes up a group that was saved, whose rows begin at `oldest`. */
  def restore(in: ByteReader, oldest: Long): Unit = {
    alive = in.byte() == 1
    clock = in.number()
    lastArrival = in.number()
    steps = in.number()
    sequence = in.number()
    head = oldest
    leave.restore(in)
  }

  private[window] def oldestArrival: Long = rows.arrival(head)

  /** The arrival of the row that `newer` rows of the window are older than. */
  private[window] def arrivalOf(newer: Long): Long = rows.arrival(head + newer)

  private[window] def removeOldest(count: Long, at: Long): Unit = {
    changes.add(isInsert = false, head, head + count, at, steps, sequence)
    sequence += count
    head += count
  }

  private def idleDue: Long =
    // A time that was set shorter since may have been over before now; it is told now.
    if (idleMillis == Never) Never else Math.max(lastArrival + idleMillis, clock)

  private def forget(due: Long): Unit = {
    if (size > 0) removeOldest(size, due)
    forgotten += 1
    startAfresh()
  }

  private def startAfresh(): Unit = {
    alive = false
    head = rows.end
    lastArrival = Long.MinValue
    steps = 0L
    sequence = 0L
    leave.clear()
  }
}

object Machine {

  /** The instant that never comes. */
  val Never: Long = Long.MaxValue
}
