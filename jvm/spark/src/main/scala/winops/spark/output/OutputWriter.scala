package winops.spark.output

import org.apache.spark.sql.catalyst.InternalRow

import winops.spark.aggregates.StepAggregates
import winops.spark.group.{GroupState, KeepOperation, OverOperation, RefusedRow, Silence}
import winops.spark.internal.KeepMetrics
import winops.spark.plan.{KeepPlan, Output, OverPlan}
import winops.window.changes.ChangeQueue

/** Writes the output rows of the open group. It is read before the operation continues, because
  * rows that have left can be read only until then.
  *
  * @param metrics
  *   takes the counts of rows
  */
abstract class OutputWriter(metrics: KeepMetrics) {
  private var emitted = 0L

  /** Returns true if another output row is available. */
  def hasNext: Boolean

  /** The next output row; valid until the next call. */
  final def next(): InternalRow = {
    emitted += 1
    emit()
  }

  /** Skips the output rows that come next and are silent. */
  final def dropSilent(silence: Silence): Unit = while (silence.isNow && hasNext) {
    val _ = emit()
  }

  /** Called before a group is opened. */
  def beginGroup(): Unit = ()

  /** Called when the open group has no more steps in this micro-batch. */
  def endGroup(): Unit = ()

  /** Adds the rows that were emitted to the metrics. */
  def count(): Unit = metrics.outputRows += emitted

  protected def emit(): InternalRow
}

object OutputWriter {

  /** Returns true if the output has changes only, so that reports and triggers without changes
    * have no effect.
    */
  def ignoresReports(output: Output): Boolean = output match {
    case Output.Changes | Output.Rows | Output.WithColumns | Output.Lookup => true
    case _ => false
  }

  /** The writer of window functions. */
  def of(plan: OverPlan, over: OverOperation, metrics: KeepMetrics): OutputWriter =
    new OverOutput(plan, over, metrics)

  /** The writer of the output of a retention window.
    *
    * @param common
    *   the contents of all groups, for results across groups
    * @param isTimed
    *   true if changes have a time
    * @param refused
    *   the row without effect that is emitted next
    */
  def of(
      plan: KeepPlan,
      changes: ChangeQueue,
      state: GroupState[KeepOperation],
      common: Option[StepAggregates],
      isTimed: Boolean,
      metrics: KeepMetrics,
      refused: RefusedRow = new RefusedRow): OutputWriter =
    plan.spec.output match {
      case Output.Rows | Output.Describe => new RowsOutput(plan, changes, state, metrics)
      case Output.Changes => new ChangesOutput(plan, changes, state, isTimed, metrics, refused)
      case Output.Snapshots if plan.spec.followsContent =>
        new SnapshotsOutput(plan, changes, state, isTimed, metrics)
      case Output.Snapshots | Output.Events =>
        new EventsOutput(plan, changes, state, isTimed, metrics)
      case Output.Agg =>
        val content = common.getOrElse(state.operation.results.head)
        new AggOutput(plan, changes, state, content, isTimed, metrics)
      case Output.WithColumns => new WithColumnsOutput(plan, changes, state, metrics)
      case Output.Lookup => new LookupOutput(plan, changes, state, metrics, refused)
    }
}
