package winops.spark.output

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.group.{GroupState, KeepOperation}
import winops.spark.internal.KeepMetrics
import winops.spark.plan.{KeepPlan, Output}
import winops.spark.row.Micros
import winops.window.changes.{ChangeKind, ChangeQueue}

/** Emits the window contents at each trigger, or every event of the window, by the output mode.
  */
private final class EventsOutput(
    plan: KeepPlan,
    changes: ChangeQueue,
    state: GroupState[KeepOperation],
    hasTime: Boolean,
    metrics: KeepMetrics)
    extends ChangesReader(changes, metrics) {
  import EventsOutput._

  private val isOfTriggers = plan.spec.output == Output.Snapshots
  // The first column of an event is its type.
  private val timeColumn = if (isOfTriggers) 0 else 1
  private val rows = new ContentsArray(plan, timeColumn + 2, state)

  override def hasNext: Boolean = {
    while (!changes.isEmpty && !emits(changes.nextKind)) takeEntry()
    !changes.isEmpty
  }

  override protected def emit(): InternalRow = {
    takeEntry()
    if (!isOfTriggers) rows.step.update(0, Types(changes.kind))
    if (hasTime) rows.step.setLong(timeColumn, Micros.of(changes.at))
    else rows.step.setNullAt(timeColumn)
    rows.step.setLong(timeColumn + 1, changes.step)
    rows.clear()
    var row = changes.ordinal
    while (row < changes.end) {
      rows.add(row)
      row = state.operation.window.next(row)
    }
    rows.result(state.shownKey)
  }

  private def emits(kind: Int): Boolean =
    if (isOfTriggers) kind == ChangeKind.Trigger else kind != ChangeKind.EmptyTrigger
}

private object EventsOutput {

  /** The types of events by the kind of change, under the names of IBM Streams. */
  val Types: Map[Int, UTF8String] = Map(
    ChangeKind.Delete -> "EVICTION",
    ChangeKind.Insert -> "INSERTION",
    ChangeKind.GroupDelete -> "PARTITION_EVICTION",
    ChangeKind.Trigger -> "TRIGGER",
    ChangeKind.InitialFull -> "INITIAL_FULL",
    ChangeKind.Final -> "FINAL").map { case (kind, name) => kind -> UTF8String.fromString(name) }
}
