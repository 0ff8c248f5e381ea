package winops.spark.execution

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

import winops.spark.group.{Admission, Arrivals, BatchTimes, GroupState, ImmediateArrivals, MaxRows, OrderedArrivals, Punctuation}
import winops.spark.input.GroupedRows
import winops.spark.internal.KeepMetrics
import winops.spark.output.OutputWriter
import winops.spark.plan.{KeepPlan, Output}
import winops.spark.row.{RowBytes, RowShape}
import winops.spark.state.{GroupStore, StateErrors, TimerService}
import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.changes.{ChangeQueue, Steps}
import winops.window.crossgroup.CrossGroupMachines
import winops.window.machine.Machine
import winops.window.time.Clock

/** Runs a `keep` whose groups depend on each other. One task has all rows and applies them in one
  * order, regardless of their groups.
  *
  * One group is open at a time, so only one group has to fit into memory.
  *
  * @param rows
  *   all rows as one group
  * @param times
  *   times of the micro-batch
  * @param store
  *   stores the groups
  * @param whole
  *   stores the state that all groups share, including the waiting rows
  * @param timers
  *   supplies the time up to which timers fired in earlier batches, and takes the counts of
  *   groups and rows
  */
final class CrossGroupTask(
    plan: KeepPlan,
    input: Seq[Attribute],
    rows: GroupedRows,
    times: BatchTimes,
    store: GroupStore,
    whole: GroupStore,
    timers: TimerService,
    metrics: KeepMetrics)
    extends StreamTask {
  import CrossGroupTask._

  private val changes = new ChangeQueue
  private val steps = new Steps(changes, plan.spec.stream)
  private val state = new GroupState(plan, store, steps, ownsSteps = false)
  private val common =
    new GroupState(plan, whole, steps, ownsSteps = false, ofAll = Some(() => state))
  private val arrivals: Arrivals = {
    val admission = new Admission(plan, input, times, metrics)
    if (plan.spec.rowsWait) new OrderedArrivals(plan, admission, common, times)
    else new ImmediateArrivals(plan, admission, common, metrics)
  }
  private val writer =
    OutputWriter.of(plan, changes, state, common.common, times, metrics)
  private val givesRows = plan.spec.output == Output.Rows
  private val punctuation = Punctuation.of(plan)
  private val keyOf = UnsafeProjection.create(plan.groupExpressions, plan.content)

  private val waiting = mutable.Queue.empty[InternalRow]

  /** Output rows that are emitted at the end of the batch, by group, or under [[NoKey]] for
    * results across groups. A group that is closed again replaces its rows.
    */
  private val latest = mutable.LinkedHashMap.empty[UnsafeRow, Seq[InternalRow]]
  private var opened: UnsafeRow = _
  private var groupsBefore = 0L
  private var heldBefore = 0L
  private var waitingBefore = 0L
  private var isDone = false

  private object host extends CrossGroupMachines.Host[UnsafeRow] {
    override def open(group: UnsafeRow): Machine = {
      if (opened != group) {
        saveGroup()
        opened = group
        state.key = group
        writer.beginGroup()
        val bytes = store.open(group)
        if (bytes == null) state.clear() else state.restore(bytes)
      }
      state.machine
    }

    override def drain(group: UnsafeRow): Unit = {
      if (givesRows) changes.clear()
      queueOutput()
      common.common.foreach(_.release())
      state.machine.settle()
    }

    override def drop(group: UnsafeRow): Unit = {
      val _ = open(group)
      state.forget()
      opened = null
    }
  }

  private val machines = new CrossGroupMachines[UnsafeRow](plan.spec.policy, steps, host)

  StateErrors.translated(begin())

  /** The time of the earliest timer of any group or of the first release of a waiting row;
    * [[Clock.Never]] if there is neither.
    */
  override def earliestDue: Long = Math.min(machines.groups.nextDue, common.nextRelease)

  override def lastWaiting: Long = last
  private var last = Long.MinValue

  override def hasNext: Boolean = {
    if (waiting.isEmpty && !isDone) StateErrors.translated {
      while (waiting.isEmpty && !isDone) work()
    }
    waiting.nonEmpty
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    waiting.dequeue()
  }

  private def begin(): Unit = {
    val in = whole.open(NoKey)
    if (in == null) common.clear() else restore(in)
    groupsBefore = machines.groups.size
    heldBefore = held
    waitingBefore = common.waiting.size
    machines.advance(timers.timePassed)
    val _ = rows.nextGroup()
    arrivals.open(rows)
  }

  private def work(): Unit =
    if (arrivals.hasNext) take(arrivals.next())
    else {
      machines.advance(times.now)
      if (givesRows) emitContents()
      saveGroup()
      finish()
    }

  private def take(row: UnsafeRow): Unit = {
    val instant =
      if (plan.timeOrdinal < 0) times.stamp.getOrElse(0L)
      else Clock.floorToMillis(row.getLong(plan.timeOrdinal))
    punctuation.of(row) match {
      case Punctuation.None if machines.isFinished => metrics.afterFinal += 1
      case Punctuation.None =>
        machines.arrive(keyOf(row).copy(), instant) { at =>
          RowBytes.append(state.window, at, row)
        }
        MaxRows.check(plan.spec, held)
      case Punctuation.Window => machines.punctuate(instant)
      case Punctuation.Final => machines.finish(instant)
    }
  }

  private def emitContents(): Unit = machines.groups.inOrderOfCreation.foreach { group =>
    host.open(group).emitContents()
    queueOutput()
  }

  private def queueOutput(): Unit = while (writer.hasNext) waiting += writer.next().copy()

  private def takeLatest(): Unit = {
    val rows = Seq.newBuilder[InternalRow]
    while (writer.hasNext) rows += writer.next().copy()
    val all = rows.result()
    if (all.nonEmpty) latest.update(if (plan.spec.acrossGroups) NoKey else opened, all)
  }

  private def saveGroup(): Unit = if (opened != null) {
    writer.endGroup()
    takeLatest()
    state.machine.settle()
    if (state.isEmpty) state.forget() else store.save(state.save)
    opened = null
  }

  private def held: Long = machines.groups.held + common.waiting.size

  private def finish(): Unit = {
    waiting ++= latest.valuesIterator.flatten
    if (times.flushes) last = common.waiting.lastTime
    whole.save(save)
    timers.count(
      machines.groups.size - groupsBefore,
      held - heldBefore,
      common.waiting.size - waitingBefore)
    writer.count()
    metrics.refused += state.machine.rowsRefused
    metrics.evictedSilently += steps.rowsEvictedSilently
    metrics.expired += state.machine.groupsForgotten + machines.groupsReclaimed
    isDone = true
  }

  private def save(out: ByteWriter): Unit = {
    out.number(machines.now)
    out.byte(if (machines.isFinished) 1 else 0)
    steps.save(out)
    machines.groups.save(out)(group => out.block(group.getBytes))
    common.save(out)
  }

  private def restore(in: ByteReader): Unit = {
    CrossGroupTask.restoreGroups(in, machines, steps, plan.groupExpressions)
    common.restore(in)
  }
}

private[spark] object CrossGroupTask {

  /** Restores the clock, the steps and the index of groups, which precede the rest of the shared
    * state.
    *
    * @param group
    *   the expressions of the group key
    */
  def restoreGroups(
      in: ByteReader,
      machines: CrossGroupMachines[UnsafeRow],
      steps: Steps,
      group: Seq[Expression]): Unit = {
    val shape = RowShape.of(group)
    val now = Clock.restore(in)
    machines.resume(now, isFinished = in.byte() == 1)
    steps.restore(in)
    machines.groups.restore(in) {
      val bytes = in.block()
      val key = new UnsafeRow(group.size)
      shape.pointTo(key, bytes)
      key
    }
  }

  val NoKey: UnsafeRow = {
    val row = new UnsafeRow(0)
    row.pointTo(Array.emptyByteArray, 0)
    row
  }
}
