package winops.spark.execution

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

import winops.spark.frames.Frames
import winops.spark.group._
import winops.spark.input.GroupedRows
import winops.spark.internal.KeepMetrics
import winops.spark.output.OutputWriter
import winops.spark.plan.{KeepPlan, OperatorPlan, OverPlan}
import winops.spark.state.{GroupStore, PartitionState, StateErrors}
import winops.storage.bytes.{ByteReader, CorruptStateException}
import winops.window.changes.ChangeQueue
import winops.window.time.Clock

/** Runs an operation over the rows of one task, one group after the other, in the order of their
  * hashes: the groups with new rows, and those whose timers have expired. Emits output rows one
  * by one.
  *
  * Streams and tables differ only in `store`, `partition` and `times`.
  *
  * @param input
  *   the columns of the rows
  * @param rows
  *   the task's rows by group
  * @param times
  *   times of the micro-batch or table
  * @param state
  *   the open group with its operation
  * @param restore
  *   restores the open group from its stored value, and returns the number of rows with which the
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
  *   stores the groups between micro-batches
  * @param partition
  *   the timers of the groups, and the counts of groups and rows
  */
final class GroupTask private (
    plan: OperatorPlan,
    input: Seq[Attribute],
    rows: GroupedRows,
    times: BatchTimes,
    state: GroupState[Operation],
    restore: ByteReader => Long,
    carry: Option[KeepCarry],
    writer: OutputWriter,
    refused: RefusedRow,
    silence: Silence,
    store: GroupStore,
    partition: PartitionState,
    metrics: KeepMetrics)
    extends OperatorTask {
  import GroupTask._

  private val operation = state.operation
  private val pending = state.arrivals
  private val emitsRefused = plan.spec.emitsRefused
  private val arrivals =
    Arrivals.of(plan, input, times, pending, () => state.held, metrics)
  private val timeOrdinal = plan.timeOrdinal

  private var stage: GroupStage = Between

  /** True if the next group with rows has been found and not opened. */
  private var hasRows = false
  private var key: UnsafeRow = _
  private var wasRemembered = false
  private var arriving: UnsafeRow = _
  private var target = 0L
  private var sizeBefore = 0L
  private var waitingBefore = 0L

  override def earliestDue: Long = Clock.Never
  override def lastWaiting: Long = last
  private var last = Long.MinValue

  // The writer reads rows from the group's state, which may be corrupt.
  override def hasNext: Boolean =
    try {
      while (!isAtRow && stage != Done) work()
      isAtRow
    } catch StateErrors.translate

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    try writer.next()
    catch StateErrors.translate
  }

  private def isAtRow: Boolean = {
    writer.dropSilent(silence)
    writer.hasNext
  }

  /** Does one unit of work, after which output rows may be available. */
  private def work(): Unit = stage match {
    case Between =>
      // Groups are processed in the order in which they are stored, with rows or without.
      if (!hasRows) hasRows = rows.nextGroup()
      key = if (hasRows) partition.nextExpiredBefore(rows.key) else partition.nextExpired()
      if (key != null) openForTime()
      else if (hasRows) openForRows()
      else finish()
    case Carrying =>
      operation.release()
      if (!carry.exists(_.emitNext())) stage = Arriving
    case Arriving =>
      operation.release()
      if (arrivals.hasNext) {
        val row = arrivals.next()
        // A row that is only emitted does not move the clock of the group.
        if (arrivals.refusal == Refusal.None) expect(row)
        else {
          silence.arrives(arrivals.isOfHistory)
          refused.set(row, arrivals.refusal, None)
        }
      } else expectEnd()
    case Advancing =>
      operation.release()
      if (operation.fireNext(target)) silence.fires(arrivals.historyUntil)
      else if (arriving == null) endOfGroup()
      else arrive()
    case Ended =>
      operation.release()
      saveGroup()
    case Done =>
  }

  private def openForRows(): Unit = {
    hasRows = false
    key = rows.key
    partition.cancel(key)
    load()
    arrivals.open(rows)
    stage = if (wasRemembered && carry.isDefined) Carrying else Arriving
  }

  /** Timers are not deleted when a group is removed or rescheduled, so an entry may be stale. */
  private def openForTime(): Unit = {
    load()
    // A removed group needs no work; the next unit of work takes another one.
    if (wasRemembered) {
      arrivals.open(NoRows)
      stage = if (carry.isDefined) Carrying else Arriving
    }
  }

  private def load(): Unit = {
    state.key = key
    silence.begin()
    writer.beginGroup()
    val bytes = store.open(key)
    wasRemembered = bytes != null
    if (wasRemembered) sizeBefore = restore(bytes)
    else {
      state.clear()
      sizeBefore = 0L
    }
    operation.clock.reach(partition.timePassed)
    // The partition has handed out all timers up to this instant, including this group's.
    if (state.registeredTimer <= times.now) state.registeredTimer = Clock.Never
    if (state.reachTimer <= times.now) state.reachTimer = Clock.Never
    waitingBefore = state.waiting
  }

  private def expect(row: UnsafeRow): Unit = {
    arriving = row
    target = operation.clock.arrivalAt(times.timeOf(row, timeOrdinal))
    stage = Advancing
  }

  private def expectEnd(): Unit = {
    arriving = null
    target = times.now
    stage = Advancing
  }

  private def arrive(): Unit = {
    if (!operation.clock.isAlive) state.begin(arriving)
    silence.arrives(arrivals.isOfHistory)
    if (emitsRefused) operation.limit(plan.spec.maxRows - pending.size)
    if (operation.arrive(arriving, target)) {
      if (!emitsRefused) MaxRows.check(plan.spec, operation.held + pending.size)
      else if (operation.refusal != Refusal.None) {
        refused.set(arriving, operation.refusal, Some(target))
      }
    }
    stage = Arriving
  }

  private def endOfGroup(): Unit = {
    operation.endBatch(times.releaseBefore, isLast = times.flushes && pending.size == 0)
    silence.ends()
    writer.endGroup()
    stage = Ended
  }

  private def saveGroup(): Unit = {
    val due = state.nextDue
    if (due < state.registeredTimer) {
      partition.register(due, key)
      state.registeredTimer = due
    }
    if (state.reachTimer == Clock.Never) {
      val outOfReach = state.releaseOutOfReach(times.releaseBefore)
      if (outOfReach != Clock.Never) {
        partition.register(outOfReach, key)
        state.reachTimer = outOfReach
      }
    }
    val isRemembered = !state.isEmpty
    partition.count(
      (if (isRemembered) 1L else 0L) - (if (wasRemembered) 1L else 0L),
      state.held - sizeBefore,
      state.waiting - waitingBefore)
    partition.measure(key, state.held)
    if (times.flushes) last = Math.max(last, pending.lastTime)
    if (isRemembered) store.save(state.save) else state.forget()
    stage = Between
  }

  private def finish(): Unit = {
    writer.count()
    operation.count(metrics)
    stage = Done
  }
}

object GroupTask {

  /** Creates the task of a plan whose groups are independent.
    *
    * @param input
    *   the columns of the rows
    */
  def of(
      plan: OperatorPlan,
      input: Seq[Attribute],
      rows: GroupedRows,
      times: BatchTimes,
      store: GroupStore,
      partition: PartitionState,
      metrics: KeepMetrics): GroupTask = {
    val storage = new GroupStorage(plan, store)
    def run(
        state: GroupState[Operation],
        restore: ByteReader => Long,
        carry: Option[KeepCarry],
        writer: OutputWriter,
        silence: Silence,
        refused: RefusedRow = new RefusedRow): GroupTask = new GroupTask(
      plan,
      input,
      rows,
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
        val (carried, rebuilt) = partition.rebuilt.partition(_.isCarried)
        val rebuild = rebuilt.headOption.map { before =>
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
        run(
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
        val operation =
          new OverOperation(over, storage, Frames.columns(over), partition.rebuilt.map(_.frames))
        val state = new GroupState(over, storage, operation)
        val rebuild = partition.rebuilt.map { before =>
          new OverRebuild(over, before, storage, state, () => new SpillableSegments)
        }
        run(
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

  /** No group is open. */
  private case object Between extends GroupStage

  /** Changes are emitted because the rows of the open group are in another window. */
  private case object Carrying extends GroupStage

  /** Rows arrive at the open group. */
  private case object Arriving extends GroupStage

  /** Time passes for the open group, until the next row arrives or the batch ends. */
  private case object Advancing extends GroupStage

  /** The open group's last changes are emitted. */
  private case object Ended extends GroupStage

  private case object Done extends GroupStage

  private object NoRows extends GroupedRows {
    override def nextGroup(): Boolean = false
    override def key: UnsafeRow = throw new NoSuchElementException
    override def hasNext: Boolean = false
    override def next(): UnsafeRow = throw new NoSuchElementException
  }
}
