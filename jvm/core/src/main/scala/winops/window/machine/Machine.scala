package winops.window.machine

import winops.policy.{Order, Policy, Reclaim, Span}
import winops.storage.btree.Pages
import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.storage.rows.Rows
import winops.window.changes.{ChangeKind, Steps}
import winops.window.expression.Evaluator
import winops.window.time.Clock

/** Runs a policy over the rows of one group, and writes the changes as steps into a queue.
  *
  * A step is one arriving row with everything it causes, or one timer at its own due time. The
  * machine receives rows and instants and never reads a clock: the same rows at the same
  * instants give the same steps, however they are cut into batches.
  *
  * An instance is reused from group to group: [[restore]] or [[clear]] starts the next one.
  *
  * @param policy
  *   what to keep
  * @param idleMillis
  *   after how much silence the group is forgotten, with deletes for the rows it held;
  *   [[Clock.Never]] for a group that is never forgotten
  * @param rows
  *   the group's rows; for each row the clock is moved by [[advance]], then the row is appended,
  *   then passed to [[arrive]]; rows with holes if [[Machine.leavesHoles]]
  * @param pages
  *   where what is known beside the rows is kept when it is large
  * @param evaluator
  *   gives what the policy's expressions are worth
  * @param steps
  *   where the changes go; when they have been read, [[settle]] forgets the rows that left
  * @param ownsSteps
  *   whether the steps are numbered for this group by itself, and stored with it
  */
final class Machine(
    policy: Policy,
    idleMillis: Long,
    rows: Rows,
    pages: Pages,
    evaluator: Evaluator,
    steps: Steps,
    ownsSteps: Boolean = true) {
  private val retainer = Retainers.of(policy, rows, pages, evaluator, steps)
  private val silence: Long = policy.group.reclaim match {
    case Some(Reclaim.Silent(micros)) => Math.min(Span.ofMicros(micros).after(0L), idleMillis)
    case _ => idleMillis
  }

  private var clock = Long.MinValue
  private var lastArrival = Long.MinValue
  private var alive = false
  private var finished = false
  private var forgotten = 0L
  private var refused = 0L

  /** How many groups this instance has forgotten for their silence. */
  def groupsForgotten: Long = forgotten

  /** How many rows this instance has not admitted. */
  def rowsRefused: Long = refused

  /** Number of rows that were evicted without a delete. */
  def rowsEvictedSilently: Long = steps.rowsEvictedSilently

  /** Whether there is anything to remember of the group. */
  def isAlive: Boolean = alive

  /** How many rows are kept for the window, those that wait for its next trigger included. */
  def held: Long = retainer.held

  /** Whether the input has ended, so that nothing happens any more. */
  def isFinished: Boolean = finished

  /** The instant up to which time has passed for the group, in milliseconds. */
  def now: Long = clock

  /** The first instant at which something happens though no row arrives; [[Clock.Never]] if
    * nothing does.
    */
  def nextDue: Long =
    if (alive && !finished) Math.min(retainerDue, silenceDue) else Clock.Never

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
      steps.begin(due)
      if (retainerDue == due) {
        retainer.atDue(due)
        steps.end()
      } else forget()
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
    * Returns false if the row was refused and removed.
    */
  def arrive(at: Long): Boolean = {
    steps.begin(at)
    val comesIn = retainer.arrive(rows.end - 1, at)
    if (comesIn) {
      alive = true
      lastArrival = at
    } else {
      refused += 1
      rows.takeBack()
      // Nothing is stored of a group without a row, so no later row may depend on this one.
      if (!alive) clock = Long.MinValue
    }
    steps.end()
    comesIn
  }

  /** Takes in a window punctuation, which comes at `at`, where [[advance]] has moved the clock.
    */
  def punctuate(at: Long): Unit = {
    steps.begin(at)
    retainer.punctuate()
    steps.end()
  }

  /** Ends the input at `at`, where [[advance]] has moved the clock: the contents are reported as final, and no row may arrive any more.
    */
  def finish(at: Long): Unit = {
    steps.begin(at)
    if (retainer.held > 0) retainer.report(ChangeKind.Final)
    steps.end()
    alive = true
    finished = true
  }

  /** Removes the group and emits deletes for all its rows. */
  def dismiss(at: Long): Unit = {
    steps.begin(at)
    forget()
  }

  /** Emits the window contents, row by row as inserts, in the order of the window. */
  def emitContents(): Unit = {
    steps.begin(clock)
    retainer.emitContents()
    steps.end()
  }

  /** Forgets the rows that have left, whose changes have all been read. */
  def settle(): Unit = retainer.settle()

  /** Starts with a group that has no rows yet. */
  def clear(): Unit = {
    clock = Long.MinValue
    restart()
  }

  /** Starts the group that was forgotten again, at the instant that its clock shows. */
  def restart(): Unit = startAfresh()

  /** Stores what is known of the group beside its rows; [[settle]] goes before. */
  def save(out: ByteWriter): Unit = {
    out.number(if (finished) 2L else if (alive) 1L else 0L)
    out.number(clock)
    out.number(lastArrival)
    if (ownsSteps) steps.save(out)
    retainer.save(out)
  }

  /** Takes up a group that was saved, whose rows have been taken up. */
  def restore(in: ByteReader): Unit = {
    val life = in.count(2L)
    alive = life > 0
    finished = life > 1
    clock = Clock.restore(in)
    lastArrival = in.number()
    if (ownsSteps) steps.restore(in)
    retainer.restore(in)
  }

  // A timer that a condition or an eviction has set to the past fires now.
  private def retainerDue: Long = Math.max(retainer.due, clock)

  private def silenceDue: Long =
    // An idle time that was shortened may have been over before now; it ends now.
    if (silence == Clock.Never) Clock.Never else Math.max(lastArrival + silence, clock)

  private def forget(): Unit = {
    steps.evictSilently(retainer.notInserted)
    retainer.leaveAll()
    forgotten += 1
    steps.end()
    startAfresh()
  }

  private def startAfresh(): Unit = {
    alive = false
    finished = false
    lastArrival = Long.MinValue
    if (ownsSteps) steps.clear()
    retainer.clear()
  }
}

object Machine {

  /** Whether rows of the policy may leave from anywhere, so that the group's rows have holes. */
  def leavesHoles(policy: Policy): Boolean = Retainers.leavesHoles(policy)

  /** Returns true if rows of the policy leave in the order of their insertion, as far as changes show. */
  def leavesFromFront(policy: Policy): Boolean = !leavesHoles(policy) &&
    policy.retention.windows.forall(_.order == Order.Arrival)
}
