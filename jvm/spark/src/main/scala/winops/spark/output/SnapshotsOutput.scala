package winops.spark.output

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow

import winops.spark.group.{GroupState, KeepOperation}
import winops.spark.internal.KeepMetrics
import winops.spark.plan.KeepPlan
import winops.spark.row.Micros
import winops.window.changes.ChangeQueue

/** Emits the contents of a window as one row, an array of rows, at each report. */
private final class SnapshotsOutput(
    plan: KeepPlan,
    changes: ChangeQueue,
    state: GroupState[KeepOperation],
    hasTime: Boolean,
    metrics: KeepMetrics)
    extends ContentsOutput(plan, changes, Array(state.operation.results.head), metrics) {
  private val results = state.operation.results.head
  private val rows = new ContentsArray(plan, front = 2, state)
  private val contents = mutable.Queue.empty[InternalRow]

  override def hasNext: Boolean = {
    follow()
    contents.nonEmpty
  }

  override protected def emit(): InternalRow = contents.dequeue()

  override protected def report(): Unit = {
    if (hasTime) rows.step.setLong(0, Micros.of(at)) else rows.step.setNullAt(0)
    rows.step.setLong(1, step)
    rows.clear()
    results.foreach(rows.add)
    contents += rows.result(state.shownKey).copy()
  }
}
