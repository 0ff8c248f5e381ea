package winops.spark.output

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.aggregates.StepAggregates
import winops.spark.group.{GroupState, KeepOperation}
import winops.spark.internal.KeepMetrics
import winops.spark.plan.{AggMode, KeepPlan}
import winops.spark.row.Micros
import winops.window.changes.ChangeQueue

/** Emits the aggregates of the window contents at each report: the group key, the time, the
  * number of the last change, and the results. The mode `changes` also emits a delete for the
  * values that each report replaces. The mode `latest` emits only the last values of a
  * micro-batch.
  */
private final class AggOutput(
    plan: KeepPlan,
    changes: ChangeQueue,
    state: GroupState[KeepOperation],
    content: StepAggregates,
    hasTime: Boolean,
    metrics: KeepMetrics)
    extends ContentsOutput(plan, changes, Array(content), metrics) {
  private val spec = plan.spec
  private val onlyLatest = spec.mode == AggMode.Latest
  private val emitsChanges = spec.mode == AggMode.Changes

  /** True if the values at the end of a micro-batch equal those of the last report in it. */
  private val isOfSteps =
    !spec.reportsByTrigger && !spec.reportsWhenEmptied && !spec.postsOnSizeChange

  private val change = new GenericInternalRow(if (emitsChanges) 3 else 2)
  private val front = new JoinedRow
  private val whole = new JoinedRow
  private val projection = UnsafeProjection.create(plan.output.map(_.dataType).toArray)

  private val values = mutable.Queue.empty[UnsafeRow]
  private var isAwaited = false
  private var isGroupDone = false

  override def hasNext: Boolean = {
    follow()
    values.nonEmpty && (isGroupDone || !onlyLatest)
  }

  override protected def emit(): InternalRow = values.dequeue()

  override def beginGroup(): Unit = isGroupDone = false

  override def endGroup(): Unit = {
    isGroupDone = true
    if (isAwaited) evaluate()
  }

  override protected def report(): Unit =
    if (onlyLatest && isOfSteps) isAwaited = true
    else evaluate()

  private def evaluate(): Unit = {
    isAwaited = false
    val time = change.numFields - 2
    if (hasTime) change.setLong(time, Micros.of(at)) else change.setNullAt(time)
    change.setLong(time + 1, sequence)
    front(if (spec.acrossGroups) InternalRow.empty else state.shownKey, change)
    var replaces = onlyLatest
    content.visit { (before, now) =>
      // A step without results keeps the values of the step before.
      if (replaces) values.clear()
      replaces = false
      if (spec.emitsOldValues) add(ChangesReader.Delete, before)
      if (spec.emitsNewValues) add(ChangesReader.Insert, now)
    }
  }

  private def add(kind: UTF8String, results: UnsafeRow): Unit = {
    if (emitsChanges) change.update(0, kind)
    values += projection(whole(front, results)).copy()
  }
}
