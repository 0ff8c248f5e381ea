package winops.spark.execution

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

import winops.spark.group._
import winops.spark.input.GroupedRows
import winops.spark.internal.KeepMetrics
import winops.spark.output.OutputWriter
import winops.spark.plan.{KeepPlan, Output}
import winops.spark.row.RowBytes
import winops.spark.state.{GroupStore, PartitionState, RowKeys, StateErrors, StateVersion}
import winops.storage.btree.Pages
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException, ShiftedSegments}
import winops.window.changes.ChangeQueue
import winops.window.crossgroup.{CrossGroupIndex, CrossGroupMachines, GroupRecords}
import winops.window.machine.Machine
import winops.window.time.Clock

/** Runs a `keep` whose groups depend on each other. One task has all rows and applies them in one
  * order, regardless of their groups.
  *
  * One group is open at a time, and its changes are emitted before the next group is opened, so
  * only one group has to fit into memory.
  *
  * @param rows
  *   all rows as one group
  * @param times
  *   times of the micro-batch
  * @param store
  *   stores the groups
  * @param whole
  *   stores the state that all groups share, including the waiting rows
  * @param records
  *   stores the records of the groups
  * @param partition
  *   supplies the time up to which timers fired in earlier batches and, if their times follow
  *   another rule since a restart, all groups; takes the counts of groups and rows
  */
final class CrossGroupTask(
    plan: KeepPlan,
    input: Seq[Attribute],
    rows: GroupedRows,
    times: BatchTimes,
    store: GroupStore,
    whole: GroupStore,
    records: GroupRecords,
    partition: PartitionState,
    metrics: KeepMetrics)
    extends OperatorTask {
  import CrossGroupTask._

  private val changes = new ChangeQueue(plan.spec.stream)
  private val state = {
    val storage = new GroupStorage(plan, store)
    new GroupState(plan, storage, new KeepOperation(plan, storage, changes, ownsSteps = false))
  }
  private val machine = state.operation.machine
  private val shared = new CrossGroupState(plan, whole, state)
  private val arrivals =
    Arrivals.of(plan, input, times, shared.arrivals, () => heldByGroups, metrics)
  private val writer = OutputWriter.of(
    plan,
    changes,
    state,
    shared.contents,
    isTimed = plan.time.isDefined || times.stamp.isDefined,
    metrics)
  private val silence = Silence.of(times, changes)
  private val timeOrdinal = plan.timeOrdinal
  private val emitsRows = plan.spec.output == Output.Rows
  private val punctuation = Punctuation.of(plan)
  private val emptyPeriods = new EmptyPeriods(plan.spec)
  private var movedBefore = 0L
  private val keyOf = UnsafeProjection.create(plan.groupExpressions, plan.content)

  /** Output rows that are emitted at the end of the batch, by group, or under [[NoKey]] for
    * results across groups. A group that is closed again replaces its rows.
    */
  private val latest = new LatestRows(plan.output.size, store.pageMemory)
  private var rowsAtEnd = Iterator.empty[UnsafeRow]

  private var stage: CrossGroupStage = Arriving
  private var pieces = Iterator.empty[UnsafeRow]
  private var opened: UnsafeRow = _
  private var isChanged = false

  /** True from the arrival of the row that is taken until the next one is. */
  private var hasArrived = false
  private var groupsBefore = 0L
  private var waitingBefore = 0L

  private object host extends CrossGroupMachines.Host[UnsafeRow] {
    override def open(group: UnsafeRow): Machine = {
      select(group)
      isChanged = true
      machine
    }

    override def drop(group: UnsafeRow): Unit = {
      select(group)
      writer.endGroup()
      takeLatest()
      state.forget()
      shared.contents.foreach(_.forget(group))
      opened = null
    }
  }

  private val machines = machinesOf(plan, plan.groupExpressions, changes, whole, records, host)

  StateErrors.translated(begin())

  /** The time of the earliest timer of any group or of the first release of a waiting row;
    * [[Clock.Never]] if there is neither.
    */
  override def earliestDue: Long = due
  private var due = Clock.Never

  override def lastWaiting: Long = last
  private var last = Long.MinValue

  override protected def isAtRow: Boolean = {
    writer.dropSilent(silence)
    writer.hasNext || rowsAtEnd.hasNext
  }

  override protected def takeRow(): InternalRow =
    if (writer.hasNext) writer.next() else rowsAtEnd.next()

  override protected def isDone: Boolean = stage == Done

  private def begin(): Unit = {
    silence.begin()
    val in = whole.open(NoKey)
    if (in == null) shared.clear() else restore(in)
    groupsBefore = machines.groups.size
    waitingBefore = waiting
    Iterator
      .continually(partition.nextExpired())
      .takeWhile(_ != null)
      .foreach(machines.reschedule)
    val _ = rows.nextGroup()
    arrivals.open(rows)
    pieces = machines.advance(partition.timePassed)
  }

  override protected def work(): Unit = {
    release()
    if (pieces.hasNext) {
      val _ = pieces.next()
      if (hasArrived) silence.arrives(arrivals.isOfHistory)
      else silence.fires(arrivals.historyUntil)
      if (stage != Ending) {
        val moved = changes.rowsMoved
        emptyPeriods.note(changed = moved != movedBefore, groups = machines.groups.size)
        movedBefore = moved
      }
      if (emitsRows && stage != Ending) changes.clear()
    } else {
      stage match {
        case Arriving if arrivals.hasNext =>
          emptyPeriods.clear()
          pieces = take(arrivals.next())
        case Arriving =>
          hasArrived = false
          pieces = machines.advance(times.now)
          stage = Advancing
        case Advancing =>
          if (emitsRows) pieces = contents
          stage = Ending
        case Ending =>
          finish()
          stage = Done
        case Done =>
      }
    }
  }

  /** Releases the rows that left, whose changes have been emitted. */
  private def release(): Unit = if (opened != null) {
    shared.contents.foreach(_.release())
    machine.settle()
  }

  private def take(row: UnsafeRow): Iterator[UnsafeRow] = {
    val instant = times.timeOf(row, timeOrdinal)
    val kind = punctuation.of(row)
    hasArrived = kind != Punctuation.None
    kind match {
      case Punctuation.None if machines.isFinished =>
        metrics.afterFinal += 1
        Iterator.empty
      case Punctuation.None =>
        machines.arrive(keyOf(row).copy(), instant) { at =>
          hasArrived = true
          if (!machine.clock.isAlive) state.begin(row)
          RowBytes.append(state.operation.window, at, row)
        } ++ {
          MaxRows.check(plan.spec, heldByGroups)
          Iterator.empty
        }
      case Punctuation.Window => machines.punctuate(instant)
      case Punctuation.Final => machines.finish(instant)
    }
  }

  private def contents: Iterator[UnsafeRow] = machines.groups.inOrderOfCreation.map { group =>
    select(group)
    machine.emitContents()
    group
  }

  private def select(group: UnsafeRow): Unit = if (opened != group) {
    saveGroup()
    opened = group
    isChanged = false
    state.key = group
    writer.beginGroup()
    silence.opens()
    val bytes = store.open(group)
    if (bytes != null) state.restore(bytes)
    else if (machines.groups.heldBy(group) == 0) state.clear()
    else throw new CorruptStateException("the rows of a group are counted and not stored")
  }

  private def takeLatest(): Unit = {
    silence.ends()
    writer.dropSilent(silence)
    if (writer.hasNext) addLatest()
  }

  private def addLatest(): Unit = {
    latest.begin(if (plan.spec.acrossGroups) NoKey else opened)
    while (writer.hasNext) latest.add(writer.next().asInstanceOf[UnsafeRow])
    latest.end()
  }

  private def saveGroup(): Unit = if (opened != null) {
    writer.endGroup()
    takeLatest()
    machine.settle()
    partition.measure(opened, state.held)
    if (state.isEmpty) state.forget() else if (isChanged) store.save(state.save)
    opened = null
  }

  private def waiting: Long = shared.arrivals.size

  private def held: Long = heldByGroups + shared.contents.fold(0L)(_.rowsWithoutGroup)

  /** The number of rows to which the limit of the plan applies. */
  private def heldByGroups: Long = machines.groups.held + waiting

  private def finish(): Unit = {
    saveGroup()
    rowsAtEnd = latest.rows
    if (times.flushes) last = shared.arrivals.lastTime
    due = Math.min(machines.groups.nextDue, shared.arrivals.nextRelease)
    whole.save(save)
    partition.count(
      machines.groups.size - groupsBefore,
      held - partition.rowsHeld,
      waiting - waitingBefore)
    writer.count()
    state.operation.count(metrics)
    metrics.expired += machines.groupsReclaimed
  }

  private def save(out: ByteWriter): Unit = {
    out.byte(StateVersion.Current)
    out.number(machines.now)
    out.byte(if (machines.isFinished) 1 else 0)
    changes.save(out)
    machines.groups.save(out)
    shared.save(out, machines.now)
  }

  private def restore(in: ByteReader): Unit = {
    restoreGroups(in, machines, changes)
    shared.restore(in, machines.now)
  }
}

private[spark] object CrossGroupTask {
  private sealed trait CrossGroupStage

  /** Rows arrive. */
  private case object Arriving extends CrossGroupStage

  /** Time passes until the end of the batch. */
  private case object Advancing extends CrossGroupStage

  /** Time has passed, and the contents are emitted if they are the output. */
  private case object Ending extends CrossGroupStage

  private case object Done extends CrossGroupStage

  /** Creates the machines of all groups.
    *
    * @param group
    *   the expressions or columns of the group key
    * @param whole
    *   stores the state that all groups share
    * @param records
    *   stores the records of the groups
    */
  def machinesOf(
      plan: KeepPlan,
      group: Seq[Expression],
      changes: ChangeQueue,
      whole: GroupStore,
      records: GroupRecords,
      host: CrossGroupMachines.Host[UnsafeRow]): CrossGroupMachines[UnsafeRow] = {
    val spec = plan.spec
    val punctuates = spec.punctuation.isDefined ||
      spec.policy.takesPunctuation
    val groups = new CrossGroupIndex[UnsafeRow](
      spec.policy.group.reclaim,
      ordersByCreation = punctuates || spec.output == Output.Rows,
      new Pages(new ShiftedSegments(whole.windowSegments, FirstIndexPage), whole.pageMemory),
      records,
      new RowKeys(group))
    new CrossGroupMachines(changes, groups, host)
  }

  /** Restores the version, the clock, the steps and the index of groups, which precede the rest
    * of the shared state.
    */
  def restoreGroups(
      in: ByteReader,
      machines: CrossGroupMachines[UnsafeRow],
      changes: ChangeQueue): Unit = {
    StateVersion.check(in)
    machines.resume(Clock.restore(in), isFinished = in.byte() == 1)
    changes.restore(in)
    machines.groups.restore(in)
  }

  /** The first segment of the index's pages, below the pages of the shared state. */
  private val FirstIndexPage = 1L << 59

  val NoKey: UnsafeRow = {
    val row = new UnsafeRow(0)
    row.pointTo(Array.emptyByteArray, 0)
    row
  }
}
