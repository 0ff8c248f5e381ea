package winops.spark.output

import org.apache.spark.sql.catalyst.InternalRow

import winops.spark.aggregates.TrackedContents
import winops.spark.group.{BatchTimes, GroupState}
import winops.spark.internal.KeepMetrics
import winops.spark.plan.{KeepPlan, Output}
import winops.window.changes.{ChangeKind, ChangeQueue}

/** Writes the output rows of the open group: reads the changes that the machine has queued, and
  * turns them into rows of one output mode.
  *
  * The queue is read before the machine continues, because evicted rows can be read only until
  * then.
  *
  * @param changes
  *   the changes of the machine
  * @param metrics
  *   takes the counts of rows
  */
abstract class OutputWriter(changes: ChangeQueue, metrics: KeepMetrics) {
  private var inserted = 0L
  private var deleted = 0L
  private var rowsGiven = 0L

  /** Returns true if another output row is available. Skips changes that the output mode does not
    * emit.
    */
  def hasNext: Boolean

  /** The next output row; valid until the next call. */
  final def next(): InternalRow = {
    rowsGiven += 1
    give()
  }

  /** Called after a group was opened. */
  def beginGroup(): Unit = ()

  /** Called when the open group has no more steps in this micro-batch. */
  def endGroup(): Unit = ()

  /** Adds the rows that were emitted to the metrics. */
  final def count(): Unit = {
    metrics.outputRows += rowsGiven
    metrics.inserted += inserted
    metrics.deleted += deleted
  }

  protected def give(): InternalRow

  /** Moves to the next change and skips other entries; returns false if there is none. */
  protected final def isAtChange: Boolean = {
    while (!changes.isEmpty && !ChangeKind.isChange(changes.nextKind)) takeEntry()
    !changes.isEmpty
  }

  /** Moves to the next entry as a whole. */
  protected final def takeEntry(): Unit = {
    changes.nextEntry()
    countRows(changes.end - changes.ordinal)
  }

  /** Counts rows of the current entry of the queue. */
  protected final def countRows(rows: Long): Unit =
    if (changes.kind == ChangeKind.Insert) inserted += rows
    else if (ChangeKind.isChange(changes.kind)) deleted += rows
}

object OutputWriter {

  /** Returns true if the output has changes only, so that reports and triggers without changes
    * have no effect.
    */
  def ignoresReports(output: Output): Boolean = output match {
    case Output.Changes | Output.Rows | Output.WithColumns | Output.Over => true
    case _ => false
  }

  /** The writer of a plan's output mode.
    *
    * @param common
    *   the contents of all groups, for results across groups
    * @param times
    *   times of the micro-batch or table
    */
  def of(
      plan: KeepPlan,
      changes: ChangeQueue,
      state: GroupState,
      common: Option[TrackedContents],
      times: BatchTimes,
      metrics: KeepMetrics): OutputWriter = {
    val hasTime = plan.time.isDefined || times.stamp.isDefined
    plan.spec.output match {
      case Output.Rows | Output.Describe => new RowsOutput(plan, changes, state, metrics)
      case Output.Changes => new ChangesOutput(plan, changes, state, hasTime, metrics)
      case Output.Snapshots if plan.spec.followsContent =>
        new SnapshotsOutput(plan, changes, state, hasTime, metrics)
      case Output.Snapshots | Output.Events =>
        new EventsOutput(plan, changes, state, hasTime, metrics)
      case Output.Agg =>
        val content = common.getOrElse(state.results.head)
        new AggOutput(plan, changes, state, content, hasTime, metrics)
      case Output.WithColumns => new WithColumnsOutput(plan, changes, state, metrics)
      case Output.Over => new OverOutput(plan, changes, state, times, metrics)
    }
  }
}
