package winops.spark.output

import org.apache.spark.sql.catalyst.InternalRow

import winops.spark.aggregates.TrackedContents
import winops.spark.group.GroupState
import winops.spark.internal.KeepMetrics
import winops.spark.plan.{KeepPlan, Output}
import winops.window.{ChangeKind, ChangeQueue}

/** Makes rows of Spark from what a machine has told of the open group, as the output of the keep
  * asks for them.
  *
  * What is told is read before the machine goes on, because rows that have left are there only
  * until then.
  */
abstract class OutputWriter(changes: ChangeQueue, metrics: KeepMetrics) {
  private var inserted = 0L
  private var deleted = 0L
  private var rowsGiven = 0L

  /** Whether there is something to give; what the output does not ask for is passed over. */
  def hasNext: Boolean

  /** The next row to give; valid until the next call. */
  final def next(): InternalRow = {
    rowsGiven += 1
    give()
  }

  /** A group has been opened. */
  def beginGroup(): Unit = ()

  /** The group that is open has done all that it does in this batch. */
  def endGroup(): Unit = ()

  /** Adds what was given to the metrics. */
  final def count(): Unit = {
    metrics.outputRows += rowsGiven
    metrics.inserted += inserted
    metrics.deleted += deleted
  }

  protected def give(): InternalRow

  /** Goes to the next change, past what is none; false if there is none. */
  protected final def isAtChange: Boolean = {
    while (!changes.isEmpty && !ChangeKind.isChange(changes.nextKind)) takeEntry()
    !changes.isEmpty
  }

  /** Goes to the next entry as a whole. */
  protected final def takeEntry(): Unit = {
    changes.nextEntry()
    countRows(changes.end - changes.ordinal)
  }

  /** Counts rows of the entry that the queue is at. */
  protected final def countRows(rows: Long): Unit =
    if (changes.kind == ChangeKind.Insert) inserted += rows
    else if (ChangeKind.isChange(changes.kind)) deleted += rows
}

object OutputWriter {

  /** @param common
    *   the content of all groups, if that is asked for
    * @param hasTime
    *   whether it is known when a step happens
    */
  def of(
      plan: KeepPlan,
      changes: ChangeQueue,
      state: GroupState,
      common: Option[TrackedContents],
      hasTime: Boolean,
      metrics: KeepMetrics): OutputWriter = plan.spec.output match {
    case Output.Rows | Output.Description => new RowsOutput(plan, changes, state, metrics)
    case Output.Changes => new ChangesOutput(plan, changes, state, hasTime, metrics)
    case Output.Snapshots if plan.spec.followsContent =>
      new SnapshotsOutput(plan, changes, state, hasTime, metrics)
    case Output.Snapshots | Output.Events =>
      new EventsOutput(plan, changes, state, hasTime, metrics)
    case Output.Agg =>
      val content = common.getOrElse(state.results.head)
      new AggOutput(plan, changes, state, content, hasTime, metrics)
    case Output.Columns => new WithColumnsOutput(plan, changes, state, metrics)
  }
}
