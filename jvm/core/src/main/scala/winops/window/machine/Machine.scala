package winops.window.machine

import winops.policy.{Policy, Reclaim}
import winops.storage.btree.Pages
import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.storage.rows.Rows
import winops.terms.Span
import winops.window.changes.{ChangeKind, ChangeQueue, ChangeReason, RowOutcome}
import winops.window.contents.WindowContext
import winops.window.expression.Evaluator
import winops.window.retainer.{Retainer, Retainers}
import winops.window.time.{Clock, GroupClock}

/** Runs a policy over the rows of one group, and writes the changes as steps into a queue.
  *
  * A step is one arriving row with all its effects, or one timer. The machine receives rows and
  * instants and never reads a clock: the same rows at the same instants give the same steps,
  * however the input is divided into micro-batches.
  *
  * An instance is reused from group to group: [[restore]] or [[clear]] starts the next group.
  *
  * @param policy
  *   the policy of the window
  * @param idleMillis
  *   idle time, in milliseconds, after which the group is removed with deletes for its rows;
  *   [[Clock.Never]] if idle groups stay
  * @param rows
  *   the group's rows, with holes if `policy.leavesHoles`. For each row the caller calls
  *   [[advance]], appends the row, and calls [[arrive]].
  * @param pages
  *   stores state beside the rows, such as indexes
  * @param evaluator
  *   evaluates the policy's expressions
  * @param changes
  *   receives the changes; the caller reads them before [[settle]] removes the rows that left
  * @param ownsSteps
  *   true if the steps are numbered for this group alone and stored with it
  */
final class Machine(
    policy: Policy,
    idleMillis: Long,
    rows: Rows,
    pages: Pages,
    evaluator: Evaluator,
    changes: ChangeQueue,
    ownsSteps: Boolean = true) {
  private val retainer: Retainer = Retainers
    .of(policy)
    .fold(
      why => throw new IllegalArgumentException(s"the machine cannot run ${policy.text}: $why"),
      _(new WindowContext(rows, pages, evaluator, changes)))

  /** The group's clock. */
  val clock = new GroupClock(policy.group.reclaim match {
    case Some(Reclaim.Silent(micros)) => Math.min(Span.ofMicros(micros).after(0L), idleMillis)
    case _ => idleMillis
  })

  private var finished = false
  private var forgotten = 0L
  private var refused = 0L
  private var updated = 0L
  private var deleted = 0L
  private var notHeld = 0L

  /** Number of groups that this instance removed with deletes, when idle or by [[dismiss]]. */
  def groupsForgotten: Long = forgotten

  /** Number of rows that this instance refused. */
  def rowsRefused: Long = refused

  /** Number of updates that this instance applied to rows of the window. */
  def rowsUpdated: Long = updated

  /** Number of deletes that this instance applied to rows of the window. */
  def rowsDeleted: Long = deleted

  /** Number of updates and deletes whose row the window did not hold. */
  def rowsNotHeld: Long = notHeld

  /** Number of rows stored for the window, pending rows included. */
  def held: Long = retainer.held

  /** Returns true if the input has ended, so that no row or timer has an effect. */
  def isFinished: Boolean = finished

  /** The earliest timer; [[Clock.Never]] if there is none. */
  def nextDue: Long = if (isRunning) Math.min(retainerDue, clock.idleDue) else Clock.Never

  /** Moves the clock to `instant`, unless it is later, and fires all timers up to that instant,
    * earliest first. Timers of the instant itself fire too, before any row that arrives then.
    */
  def advance(instant: Long): Unit = while (fireNext(instant)) {}

  /** Fires the earliest timer and returns true if it is at or before `instant`. Otherwise moves
    * the clock to `instant` and returns false.
    */
  def fireNext(instant: Long): Boolean = !reaches(instant) && fire(instant)

  /** Does what [[fireNext]] does, after [[reaches]] has returned false for this instant: the
    * machine runs, and a timer is due.
    */
  def fire(instant: Long): Boolean = {
    if (changes.ignoresReports) skipReports(instant)
    val ofRows = retainerDue
    val due = Math.min(ofRows, clock.idleDue)
    val fires = due <= instant
    if (fires) {
      changes.beginStep(due)
      if (ofRows == due) {
        retainer.atDue(due)
        changes.endStep()
      } else forget(ChangeReason.GroupIdle)
    } else clock.reach(instant)
    fires
  }

  /** Moves the clock to `instant` and returns true if no timer is at or before it. */
  def reaches(instant: Long): Boolean = {
    val isFree = nextDue > instant
    if (isFree) clock.reach(instant)
    isFree
  }

  /** Passes over timers that only report unchanged contents. A long silence may have millions. */
  private def skipReports(instant: Long): Unit = {
    val due = retainer.due
    if (due <= instant && due >= clock.now) {
      changes.skipSteps(retainer.skipReports(Math.min(instant, clock.idleDue - 1)))
    }
  }

  /** Inserts the newest of `rows`, which arrived at `at`, the instant of the last [[advance]].
    * Returns false if the row was refused and removed.
    */
  def arrive(at: Long): Boolean = insertNewest(at, at)

  /** Inserts the newest of `rows`, which arrived at `at`, an instant before that of the clock, in
    * a window that a restart has replaced. Returns false if the row was refused and removed.
    */
  def carry(at: Long): Boolean = insertNewest(at, clock.now)

  /** Applies the newest of `rows`, which arrived at `at`, the instant of the last [[advance]], as
    * one of [[winops.terms.RowOperation]]. Returns one of [[winops.window.changes.RowOutcome]].
    * Only a row that was inserted stays.
    *
    * @param hasRoom
    *   false if no row may be inserted
    */
  def operate(operation: Int, at: Long, hasRoom: Boolean = true): Int = {
    changes.beginStep(at)
    val outcome = retainer.operate(operation, rows.end - 1, at, hasRoom)
    if (RowOutcome.hasEffect(outcome)) clock.arrived(at)
    outcome match {
      case RowOutcome.Inserted =>
      case RowOutcome.Updated => updated += 1
      case RowOutcome.Deleted =>
        deleted += 1
        rows.takeBack()
      case _ =>
        if (outcome == RowOutcome.NotHeld) notHeld += 1 else refused += 1
        rows.takeBack()
        if (!clock.isAlive) clock.clear()
    }
    changes.endStep()
    outcome
  }

  private def insertNewest(at: Long, instant: Long): Boolean = {
    changes.beginStep(instant)
    val comesIn = retainer.arrive(rows.end - 1, at)
    if (comesIn) clock.arrived(at)
    else {
      refused += 1
      rows.takeBack()
      // A group without rows is not stored, so no later row may depend on this row's time.
      if (!clock.isAlive) clock.clear()
    }
    changes.endStep()
    comesIn
  }

  /** Ends the reading of the windows for a row that does not enter, at the instant of the last
    * [[advance]]. The row is no arrival: it takes no step, and the group may be forgotten for its
    * silence.
    */
  def ask(): Unit =
    // A group without rows is not stored, so no later row may depend on this row's time.
    if (!clock.isAlive) clock.clear()

  /** Begins the step of changes that are no effect of a row or a timer. */
  def beginCorrection(): Unit = changes.beginStep(clock.now)

  /** Emits an insert or a delete of a row because a restart has replaced the window with this
    * number. The row must be readable, and need not be in the window.
    */
  def emitCorrection(window: Int, row: Long, isInsert: Boolean): Unit = {
    changes.writeWindow(window)
    if (isInsert) changes.insert(row, row + 1, ChangeReason.Arrived)
    else changes.delete(row, row + 1, ChangeReason.WindowChanged)
    changes.writeWindow(0)
  }

  def endCorrection(): Unit = changes.endStep()

  /** Handles a window punctuation at `at`, the instant of the last [[advance]]. */
  def punctuate(at: Long): Unit = {
    changes.beginStep(at)
    retainer.punctuate()
    changes.endStep()
  }

  /** Ends the input at `at`, the instant of the last [[advance]]: reports the contents as final.
    * No row may arrive afterwards.
    */
  def finish(at: Long): Unit = {
    changes.beginStep(at)
    if (retainer.held > 0) retainer.report(ChangeKind.Final)
    changes.endStep()
    clock.live()
    finished = true
  }

  /** Removes the group and emits deletes for its rows, because there are too many groups or rows.
    */
  def dismiss(at: Long): Unit = {
    changes.beginStep(at)
    forget(ChangeReason.GroupLimit)
  }

  /** Emits the window contents, row by row as inserts, in the order of the window. */
  def emitContents(): Unit = {
    changes.beginStep(clock.now)
    retainer.emitContents()
    changes.endStep()
  }

  /** Emits the rows that were inserted and not deleted, row by row as inserts. */
  def emitInserted(): Unit = {
    changes.beginStep(clock.now)
    retainer.emitInserted()
    changes.endStep()
  }

  /** Removes the rows that left; the caller has read all changes. */
  def settle(): Unit = retainer.settle()

  /** Starts with a group that has no rows. */
  def clear(): Unit = {
    clock.clear()
    restart()
  }

  /** Starts a removed group again without moving its clock. */
  def restart(): Unit = {
    clock.restart()
    finished = false
    if (ownsSteps) changes.restartNumbers()
    retainer.clear()
  }

  /** Stores the group's state beside the instant of its clock and its rows; the caller calls
    * [[settle]] first.
    *
    * @param near
    *   an instant near the last arrival that is known when the group is restored
    */
  def save(out: ByteWriter, near: Long = 0L): Unit = {
    val life = clock.kind(near) + (if (finished) GroupClock.Kinds else 0L)
    val kind = if (ownsSteps) changes.numbering(rows) else ChangeQueue.Explicit
    out.number(life + Machine.Lives * kind)
    clock.save(out, near)
    if (ownsSteps && kind == ChangeQueue.Explicit) changes.save(out)
    retainer.save(out)
  }

  /** Restores a group that was saved with the same `near`; the caller restores the instant of the
    * group's clock, and its rows, first.
    */
  def restore(in: ByteReader, near: Long = 0L): Unit = {
    val stored = in.count(Machine.Lives * (ChangeQueue.Numberings + 1L) - 1)
    val kind = (stored / Machine.Lives).toInt
    val life = stored % Machine.Lives
    finished = life >= GroupClock.Kinds
    clock.restore(in, life % GroupClock.Kinds, near)
    if (ownsSteps) {
      if (kind == ChangeQueue.Explicit) changes.restore(in) else changes.restore(kind, rows)
    }
    retainer.restore(in)
  }

  private def isRunning: Boolean = clock.isAlive && !finished

  // A condition or an eviction may set a timer to the past; such a timer fires now.
  private def retainerDue: Long = Math.max(retainer.due, clock.now)

  private def forget(reason: Int): Unit = {
    changes.evictSilently(retainer.notInserted)
    retainer.leaveAll(reason)
    forgotten += 1
    changes.endStep()
    restart()
  }
}

object Machine {

  /** The number of stored lives: the kinds of the clock, of a group that goes on or has ended. */
  private val Lives = 2 * GroupClock.Kinds

  /** The reason why the machine cannot run the policy; None if it can. A constructor fails for a
    * policy that has one.
    */
  def unsupported(policy: Policy): Option[String] = Retainers.of(policy).left.toOption
}
