package winops.spark

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.unsafe.types.UTF8String

import winops.window.{ChangeKind, ChangeQueue}

/** Makes rows of Spark from what a machine has told, as the output of the keep asks for them. */
final class Told(plan: KeepPlan, changes: ChangeQueue, hasTime: Boolean, metrics: KeepMetrics) {
  import Told._

  private val output = plan.spec.output
  private var inserted = 0L
  private var deleted = 0L
  private var rowsGiven = 0L

  private val content = new UnsafeRow(plan.content.size)
  private val front = new SpecificInternalRow(
    plan.changeColumns
      .take(output match {
        case Output.Snapshots => 2
        case Output.Events => 3
        case Output.Changes | Output.Rows | Output.Description => 0
      })
      .map(_.dataType))
  private lazy val outputOf = {
    val columns = plan.output.zipWithIndex
    UnsafeProjection.create(columns.map { case (a, i) =>
      BoundReference(i, a.dataType, a.nullable)
    })
  }
  private lazy val changeRows = new ChangeRows(plan)

  /** Whether there is something to give; what the output does not ask for is passed over. */
  def hasNext: Boolean = {
    while (!changes.isEmpty && !isAsked(changes.nextKind)) pass()
    !changes.isEmpty
  }

  /** The next row to give; valid until the next call.
    *
    * @param key
    *   the group's key
    */
  def next(key: UnsafeRow, state: GroupState): InternalRow = {
    rowsGiven += 1
    output match {
      case Output.Rows | Output.Description =>
        changes.next()
        RowBytes.pointTo(content, state.window, changes.ordinal)
        content
      case Output.Changes => change(state)
      case Output.Snapshots => snapshot(key, state)
      case Output.Events => event(key, state)
    }
  }

  /** Adds what was rowsGiven to the metrics. */
  def count(): Unit = {
    metrics.outputRows += rowsGiven
    metrics.inserted += inserted
    metrics.deleted += deleted
  }

  private def isAsked(kind: Int): Boolean = output match {
    case Output.Rows | Output.Changes | Output.Description => ChangeKind.isChange(kind)
    case Output.Snapshots => kind == ChangeKind.Trigger
    case Output.Events => kind != ChangeKind.EmptyBeat
  }

  private def pass(): Unit = {
    changes.nextEntry()
    countEntry()
  }

  private def countEntry(): Unit =
    if (changes.kind == ChangeKind.Insert) inserted += changes.end - changes.ordinal
    else if (ChangeKind.isChange(changes.kind)) deleted += changes.end - changes.ordinal

  private def change(state: GroupState): InternalRow = {
    changes.next()
    RowBytes.pointTo(content, state.window, changes.ordinal)
    if (changes.isInsert) inserted += 1 else deleted += 1
    changeRows.of(changes, hasTime, content)
  }

  private def snapshot(key: UnsafeRow, state: GroupState): InternalRow = {
    changes.nextEntry()
    setTime(0)
    front.setLong(1, changes.step)
    withContent(key, state)
  }

  private def event(key: UnsafeRow, state: GroupState): InternalRow = {
    changes.nextEntry()
    countEntry()
    front.update(0, EventTypes(changes.kind))
    setTime(1)
    front.setLong(2, changes.step)
    withContent(key, state)
  }

  private def withContent(key: UnsafeRow, state: GroupState): InternalRow = {
    val rows = Array.newBuilder[Any]
    var row = changes.ordinal
    while (row < changes.end) {
      RowBytes.pointTo(content, state.window, row)
      rows += content.copy()
      row = state.window.next(row)
    }
    val array = new GenericInternalRow(Array[Any](new GenericArrayData(rows.result())))
    outputOf(new JoinedRow(new JoinedRow(front, key), array))
  }

  private def setTime(ordinal: Int): Unit =
    if (hasTime) front.setLong(ordinal, Micros.of(changes.at)) else front.setNullAt(ordinal)
}

object Told {

  /** The types of events by the kind of change, as IBM Streams names them. */
  private val EventTypes: Map[Int, UTF8String] = Map(
    ChangeKind.Delete -> "EVICTION",
    ChangeKind.Insert -> "INSERTION",
    ChangeKind.GroupDelete -> "PARTITION_EVICTION",
    ChangeKind.Trigger -> "TRIGGER",
    ChangeKind.InitialFull -> "INITIAL_FULL",
    ChangeKind.Final -> "FINAL").map { case (kind, name) => kind -> UTF8String.fromString(name) }
}
