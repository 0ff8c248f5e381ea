package winops.spark.execution

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}

import winops.spark.frames.{FrameForm, Frames}
import winops.spark.group._
import winops.spark.input.GroupedRows
import winops.spark.internal.KeepMetrics
import winops.spark.output.OutputWriter
import winops.spark.plan.{KeepPlan, OperatorPlan, OverPlan}
import winops.spark.state.{GroupStore, PartitionState}
import winops.storage.bytes.{ByteReader, CorruptStateException}
import winops.window.changes.ChangeQueue
import winops.window.time.Clock

/** An open group of a task: its state, and what reads and writes the group's rows. An instance is
  * reused from group to group.
  *
  * A task calls [[load]], then [[open]] with rows that arrive, [[work]] until it returns false,
  * and [[registerTimers]]. Between two units of work it reads the output. It may [[reopen]] the
  * group with further rows, before [[save]] stores it.
  *
  * @param input
  *   the columns of the rows
  * @param times
  *   times of the micro-batch or table
  * @param restore
  *   restores the group from its stored value, and returns the number of rows with which the
  *   group was stored
  * @param carry
  *   lets the rows of restored groups enter another window, if a restart has replaced it
  * @param writer
  *   writes the output of the operation
  * @param refused
  *   the row without effect that the writer is to emit
  * @param silence
  *   drops the output of rows of a table before the stream
  * @param store
  *   stores the group between micro-batches
  * @param partition
  *   the timers of the groups, and the counts of groups and rows
  */
private[execution] final class OpenGroup private (
    plan: OperatorPlan,
    input: Seq[Attribute],
    times: BatchTimes,
    state: GroupState[Operation],
    restore: ByteReader => Long,
    carry: Option[KeepCarry],
    writer: OutputWriter,
    refused: RefusedRow,
    silence: Silence,
    store: GroupStore,
    partition: PartitionState,
    metrics: KeepMetrics) {
  import OpenGroup._

  private val operation = state.operation
  private val pending = state.arrivals
  private val failsOnRefused = plan.spec.failsOnRefused
  private val arrivals =
    Arrivals.of(plan, input, times, pending, () => state.held, metrics)
  private val timeOrdinal = plan.timeOrdinal

  private var stage: GroupStage = Ended
  private var wasRemembered = false
  private var arriving: UnsafeRow = _
  private var target = 0L
  private var sizeBefore = 0L
  private var waitingBefore = 0L

  /** The key of the group. */
  def key: UnsafeRow = state.key

  /** True if the group was stored when it was loaded. */
  def isStored: Boolean = wasRemembered

  /** True if the group has nothing to store. */
  def isEmpty: Boolean = state.isEmpty

  /** The greatest time of a waiting row in milliseconds; `Long.MinValue` if no row waits. */
  def lastWaiting: Long = pending.lastTime

  /** Returns true if another output row is available. */
  def isAtRow: Boolean = {
    writer.dropSilent(silence)
    writer.hasNext
  }

  /** The next output row; valid until the next call of any method. */
  def next(): InternalRow = writer.next()

  /** Starts with a group.
    *
    * @param key
    *   the key, which must stay valid until the group is saved
    * @param now
    *   the time up to which the partition has handed out the timers of all groups
    */
  def load(key: UnsafeRow, now: Long): Unit = {
    state.key = key
    val bytes = store.open(key)
    wasRemembered = bytes != null
    if (wasRemembered) sizeBefore = restore(bytes)
    else {
      state.clear()
      sizeBefore = 0L
    }
    operation.clock.reach(partition.timePassed)
    forgetTimers(now)
    waitingBefore = state.waiting
  }

  /** Forgets the registered timers up to `now`, which the partition has handed out. */
  private def forgetTimers(now: Long): Unit = {
    if (state.registeredTimer <= now) state.registeredTimer = Clock.Never
    if (state.reachTimer <= now) state.reachTimer = Clock.Never
  }

  /** Opens the group that was loaded for rows. */
  def open(rows: GroupedRows): Unit =
    begin(rows, if (wasRemembered && carry.isDefined) Carrying else Arriving)

  /** Opens the group for rows that arrive after others were processed.
    *
    * @param now
    *   the time up to which the partition has handed out the timers of all groups
    */
  def reopen(rows: GroupedRows, now: Long): Unit = {
    forgetTimers(now)
    begin(rows, Arriving)
  }

  private def begin(rows: GroupedRows, first: GroupStage): Unit = {
    silence.begin()
    writer.beginGroup()
    arrivals.open(rows)
    stage = first
  }

  /** Does one unit of work, after which output rows may be available. Returns false if no work is
    * left.
    *
    * @param times
    *   the times of the micro-batch or table
    */
  def work(times: BatchTimes): Boolean = {
    val isOpen = stage != Ended
    // The output of the unit of work before has been read.
    operation.release()
    stage match {
      case Carrying => if (!carry.exists(_.emitNext())) stage = Arriving
      case Arriving =>
        takeRow(times)
        if (stage == Advancing) advance(times)
      case Advancing => advance(times)
      case Ended =>
    }
    isOpen
  }

  /** Fires the next timer or, after the last one, lets the row arrive. */
  private def advance(times: BatchTimes): Unit =
    if (operation.fireNext(target)) silence.fires(arrivals.historyUntil)
    else if (arriving == null) end(times)
    else arrive()

  /** Takes the next row and its time or, without one, the time at the end of the micro-batch. */
  private def takeRow(times: BatchTimes): Unit =
    if (arrivals.hasNext) {
      val row = arrivals.next()
      // A row that is only emitted does not move the clock of the group.
      if (arrivals.refusal == Refusal.None) {
        arriving = row
        target = operation.clock.arrivalAt(times.timeOf(row, timeOrdinal))
        stage = Advancing
      } else {
        silence.arrives(arrivals.isOfHistory)
        refused.set(row, arrivals.refusal, None)
      }
    } else {
      arriving = null
      target = times.now
      stage = Advancing
    }

  private def arrive(): Unit = {
    if (!operation.clock.isAlive) state.begin(arriving)
    silence.arrives(arrivals.isOfHistory)
    if (!failsOnRefused) operation.limit(plan.spec.maxRows - pending.size)
    if (operation.arrive(arriving, target)) {
      if (failsOnRefused) MaxRows.check(plan.spec, operation.held + pending.size)
      else if (operation.refusal != Refusal.None) {
        refused.set(arriving, operation.refusal, Some(target))
      }
    }
    stage = Arriving
  }

  private def end(times: BatchTimes): Unit = {
    operation.endBatch(times.releaseBefore, isLast = times.flushes && pending.size == 0)
    silence.ends()
    writer.endGroup()
    stage = Ended
  }

  /** Registers the timers of the group that are earlier than those registered. */
  def registerTimers(times: BatchTimes): Unit = {
    val due = state.nextDue
    if (due < state.registeredTimer) {
      partition.register(due, state.key)
      state.registeredTimer = due
    }
    if (state.reachTimer == Clock.Never) {
      val outOfReach = state.releaseOutOfReach(times.releaseBefore)
      if (outOfReach != Clock.Never) {
        partition.register(outOfReach, state.key)
        state.reachTimer = outOfReach
      }
    }
  }

  /** Stores the group, or removes it if it is empty. */
  def save(): Unit = {
    val isRemembered = !isEmpty
    partition.count(
      (if (isRemembered) 1L else 0L) - (if (wasRemembered) 1L else 0L),
      state.held - sizeBefore,
      state.waiting - waitingBefore)
    partition.measure(state.key, state.held)
    if (isRemembered) store.save(state.save) else state.forget()
  }

  /** Adds what was counted in all groups to the metrics of the task. */
  def count(): Unit = {
    writer.count()
    operation.count(metrics)
  }
}

private[execution] object OpenGroup {

  /** Creates a group of a plan whose groups are independent.
    *
    * @param input
    *   the columns of the rows
    * @param restarts
    *   true if the stored groups may be those of another query; false if all groups have been
    *   processed since the restart
    */
  def of(
      plan: OperatorPlan,
      input: Seq[Attribute],
      times: BatchTimes,
      store: GroupStore,
      partition: PartitionState,
      metrics: KeepMetrics,
      restarts: Boolean): OpenGroup = {
    val storage = new GroupStorage(plan, store)
    val rebuilt = partition.rebuilt.filter(_ => restarts)
    def group(
        state: GroupState[Operation],
        restore: ByteReader => Long,
        carry: Option[KeepCarry],
        writer: OutputWriter,
        silence: Silence,
        refused: RefusedRow = new RefusedRow): OpenGroup = new OpenGroup(
      plan,
      input,
      times,
      state,
      restore,
      carry,
      writer,
      refused,
      silence,
      store,
      partition,
      metrics)
    plan match {
      case keep: KeepPlan =>
        val changes =
          new ChangeQueue(keep.spec.stream, OutputWriter.ignoresReports(keep.spec.output))
        val operation = new KeepOperation(keep, storage, changes)
        val state = new GroupState(keep, storage, operation)
        val isTimed = keep.time.isDefined || times.stamp.isDefined
        val (carried, others) = rebuilt.partition(_.isCarried)
        val rebuild = others.headOption.map { before =>
          new KeepRebuild(keep, before, storage, changes, state, () => new SpillableSegments)
        }
        val carry = carried.headOption.map { before =>
          val former = keep.spec.restart.former.getOrElse {
            throw new CorruptStateException(
              "the metadata of the checkpoint are not those of the query that stored the state")
          }
          new KeepCarry(
            keep,
            former.keepOf(before.idleBefore),
            before,
            storage,
            changes,
            state,
            () => new SpillableSegments)
        }
        val refused = new RefusedRow
        group(
          state,
          in =>
            carry match {
              case Some(other) =>
                other.restore(in)
                other.held + state.waiting
              case None =>
                rebuild.fold(state.restore(in))(_.restore(in))
                state.held
            },
          carry,
          OutputWriter.of(keep, changes, state, None, isTimed, metrics, refused),
          Silence.of(times, changes),
          refused)
      case over: OverPlan =>
        val formsBefore: Option[Seq[FrameForm]] = rebuilt.map(_.frames)
        val operation = new OverOperation(over, storage, Frames.columns(over), formsBefore)
        val state = new GroupState(over, storage, operation)
        val rebuild = rebuilt.map { before =>
          new OverRebuild(over, before, storage, state, () => new SpillableSegments)
        }
        group(
          state,
          in =>
            rebuild match {
              case Some(other) =>
                other.restore(in)
                other.held
              case None =>
                state.restore(in)
                state.held
            },
          None,
          OutputWriter.of(over, operation, metrics),
          Silence.of(times, operation))
    }
  }

  private sealed trait GroupStage

  /** Changes are emitted because the rows of the group are in another window. */
  private case object Carrying extends GroupStage

  /** Rows arrive. */
  private case object Arriving extends GroupStage

  /** Time passes, until the next row arrives or the batch ends. */
  private case object Advancing extends GroupStage

  /** The last changes are emitted. */
  private case object Ended extends GroupStage
}
