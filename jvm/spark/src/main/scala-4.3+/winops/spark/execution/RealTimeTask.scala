package winops.spark.execution

import java.util.{ArrayDeque, LinkedHashMap}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection, UnsafeRow}

import winops.spark.group.BatchTimes
import winops.spark.input.{ArrivingRows, GroupedRows}
import winops.spark.internal.KeepMetrics
import winops.spark.plan.{KeepPlan, OperatorPlan, OverPlan}
import winops.spark.state.{StateGroupStore, StoredPartitionState}
import winops.window.time.Clock

/** Runs an operation over the rows of one task in real-time mode. Each row is processed when it
  * arrives, as in a micro-batch of this row alone, and timers of the clock fire between rows.
  *
  * Groups stay open between their rows. Of too many open groups, the one whose last row or timer
  * is the oldest is stored and closed; all are stored after the last row.
  *
  * Without a time column, rows arrive at the time of the task's clock, and timers fire by it.
  * With one, the watermark stands still in the micro-batch, and timers fire before the first row.
  *
  * @param input
  *   the columns of the rows
  * @param times
  *   times at the beginning of the micro-batch
  * @param groups
  *   stores the groups between micro-batches
  * @param partition
  *   the timers of the groups, and the counts of groups and rows
  * @param mostOpen
  *   the maximum number of open groups
  * @param clock
  *   the clock in milliseconds
  * @param latencies
  *   takes the times from the arrival of each row in the task to the last row of its output,
  *   without those that the output has spent above
  */
final class RealTimeTask(
    plan: OperatorPlan,
    input: Seq[Attribute],
    rows: ArrivingRows,
    times: BatchTimes,
    groups: StateGroupStore,
    partition: StoredPartitionState,
    metrics: KeepMetrics,
    mostOpen: Int,
    clock: () => Long,
    latencies: LatencyAccumulator)
    extends OperatorTask {

  /** Processes the groups with timers from before the micro-batch, and those that a restart with
    * another query changes: all groups, so that later none is found in its former form.
    */
  private val before =
    GroupTask.of(plan, input, GroupedRows.Empty, times, groups, partition, metrics)
  private var isBefore = true

  private val firesBetweenRows = RealTimeTask.firesBetweenRows(plan)
  private val keyColumns = UnsafeProjection.create(plan.keys, input)
  private val arriving = new OneRow

  /** The open groups by their keys, the one that was used last at the end. */
  private val open = new LinkedHashMap[UnsafeRow, OpenGroup](16, 0.75f, true)

  /** Instances without a group. */
  private val unused = new ArrayDeque[OpenGroup]
  private val made = mutable.ArrayBuffer.empty[OpenGroup]

  /** The groups whose timers have expired. */
  private val due = mutable.LinkedHashSet.empty[UnsafeRow]

  /** The group with work that is left; null if there is none. */
  private var current: OpenGroup = _

  /** The time at which the row of that group arrived, by `System.nanoTime`; 0 if a timer has
    * opened the group.
    */
  private var arrivedAt = 0L

  /** The `System.nanoTime` at which an output row was handed on; 0 once the task goes on. */
  private var handedOnAt = 0L

  /** The nanoseconds that the row's output has spent in the operators and the sink above. */
  private var spentAbove = 0L
  private val ofRows = new Latencies
  private var now = times
  private var hasFinished = false

  override def earliestDue: Long = Clock.Never
  override def lastWaiting: Long = Long.MinValue

  override protected def isAtRow: Boolean = {
    goOn()
    if (isBefore) isBefore = before.hasNext
    isBefore || current != null && current.isAtRow
  }

  override protected def takeRow(): InternalRow = {
    val row = if (isBefore) before.next() else current.next()
    handedOnAt = System.nanoTime
    row
  }

  override protected def isDone: Boolean = hasFinished

  /** Counts the time since the last output row was handed on. */
  private def goOn(): Unit = if (handedOnAt != 0) {
    spentAbove += System.nanoTime - handedOnAt
    handedOnAt = 0L
  }

  override protected def work(): Unit =
    if (current == null) openNext()
    else if (!current.work(now)) close()

  /** Opens the group of the next timer that has expired or, if there is none, of the next row. */
  private def openNext(): Unit =
    if (due.nonEmpty) {
      val key = due.head
      due -= key
      openForTime(key)
    } else {
      val hasRow = rows.await(if (firesBetweenRows) partition.earliestDue else Clock.Never)
      reach(clock())
      // Timers fire before a row of the same instant.
      if (due.isEmpty) {
        if (hasRow) openForRow(rows.next())
        else if (rows.isEnded) finish()
      }
    }

  /** Moves the time of a plan without a time column. A clock that is set back stands still. */
  private def reach(instant: Long): Unit = if (times.stamp.isDefined && instant > now.now) {
    now = now.copy(now = instant, stamp = Some(instant))
    partition.advance(instant)(due += _)
  }

  private def openForRow(row: UnsafeRow): Unit = {
    arriving.set(row)
    arrivedAt = rows.arrivedAt
    spentAbove = 0L
    val key = keyColumns(row)
    val there = open.get(key)
    if (there != null) {
      there.reopen(arriving, now.now)
      current = there
    } else {
      current = load(key)
      current.open(arriving)
    }
  }

  /** Timers are not deleted when a group is removed or rescheduled, so an entry may be stale. */
  private def openForTime(key: UnsafeRow): Unit = {
    val there = open.get(key)
    if (there != null) {
      there.reopen(GroupedRows.Empty, now.now)
      current = there
    } else {
      val loaded = load(key)
      if (loaded.isStored) {
        loaded.open(GroupedRows.Empty)
        current = loaded
      } else forget(loaded)
    }
  }

  private def load(key: UnsafeRow): OpenGroup = {
    val group =
      if (!unused.isEmpty) unused.poll()
      else if (open.size < mostOpen) make()
      else evict()
    val own = key.copy()
    group.load(own, now.now)
    open.put(own, group)
    group
  }

  private def make(): OpenGroup = {
    val group =
      OpenGroup.of(plan, input, times, groups.another(), partition, metrics, restarts = false)
    made += group
    group
  }

  /** Stores and closes the group that was not used for the longest time. */
  private def evict(): OpenGroup = {
    val oldest = open.values.iterator
    val group = oldest.next()
    oldest.remove()
    group.save()
    group
  }

  private def close(): Unit = {
    if (arrivedAt != 0) {
      ofRows.add((System.nanoTime - arrivedAt - spentAbove) / RealTimeTask.NanosPerMicro)
    }
    arrivedAt = 0L
    current.registerTimers(now)
    // A group that returns later starts again, as in another micro-batch.
    if (current.isEmpty) {
      current.save()
      forget(current)
    }
    current = null
  }

  private def forget(group: OpenGroup): Unit = {
    open.remove(group.key)
    unused.addLast(group)
  }

  private def finish(): Unit = {
    open.values.asScala.foreach(_.save())
    open.clear()
    made.foreach(_.count())
    latencies.add(ofRows)
    hasFinished = true
  }
}

object RealTimeTask {
  private val NanosPerMicro = 1000L

  /** Returns true if timers of the clock may fire between the rows of a task. */
  def firesBetweenRows(plan: OperatorPlan): Boolean = plan.time.isEmpty && (plan match {
    case keep: KeepPlan => keep.spec.usesTime
    case over: OverPlan => over.spec.idleMillis.isDefined
  })
}

/** The row that arrives, as the only one of its group. */
private final class OneRow extends GroupedRows {
  private var row: UnsafeRow = _

  def set(row: UnsafeRow): Unit = this.row = row

  override def nextGroup(): Boolean = false
  override def key: UnsafeRow = throw new NoSuchElementException
  override def hasNext: Boolean = row != null

  override def next(): UnsafeRow = {
    val taken = row
    row = null
    taken
  }
}
