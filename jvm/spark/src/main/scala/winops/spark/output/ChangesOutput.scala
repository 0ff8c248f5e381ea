package winops.spark.output

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeRowJoiner
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.group.{GroupState, KeepOperation, Refusal, RefusedRow}
import winops.spark.internal.KeepMetrics
import winops.spark.plan.KeepPlan
import winops.spark.row.{Micros, RowBytes}
import winops.window.changes.{ChangeKind, ChangeQueue, ChangeReason}

/** Emits each insert and each delete as one output row: the change columns, then the row. The two
  * are joined as bytes and not column by column. An update is a delete and an insert, or two rows
  * of types of their own.
  */
private final class ChangesOutput(
    plan: KeepPlan,
    changes: ChangeQueue,
    state: GroupState[KeepOperation],
    hasTime: Boolean,
    metrics: KeepMetrics,
    refused: RefusedRow)
    extends ChangesReader(changes, metrics) {
  import ChangesOutput._

  private val window = state.operation.window
  private val content = new UnsafeRow(plan.content.size)

  /** The names of the windows, and then of those that a restart has removed. */
  private val windows = plan.spec.policy.windowNames match {
    case Seq() => Nil
    case names => names ++ plan.spec.restart.removedWindows(names)
  }
  private val spec = plan.spec
  private val hasReasons = spec.emitsReasons || spec.emitsRefused
  private val emitsRowIds = spec.emitsRowIds
  private val reasons: Seq[String] =
    if (!hasReasons) Nil
    // A split policy has a group for each key, so a row that is one too many has been replaced.
    else if (plan.spec.policy.isSplit) {
      ChangeReason.Names.updated(
        ChangeReason.Displaced,
        ChangeReason.Names(ChangeReason.Replaced))
    } else ChangeReason.Names
  private val reasonCount = reasons.size
  private val schema = DataTypeUtils.fromAttributes(plan.changeColumns)
  private val ofInsert = ofType(ChangesReader.Insert)
  private val ofDelete = ofType(ChangesReader.Delete)
  private val ofUpdate =
    if (spec.emitsUpdates) {
      (ofType(ChangesReader.UpdateBefore), ofType(ChangesReader.UpdateAfter))
    } else (ofDelete, ofInsert)
  private val ofRefused = if (spec.emitsRefused) refusals else Array.empty[UnsafeRow]
  private val joiner =
    GenerateUnsafeRowJoiner.create(schema, DataTypeUtils.fromAttributes(plan.content))

  override def hasNext: Boolean = isAtRefused || isAtChange

  override protected def emit(): InternalRow = if (isAtRefused) emitRefused() else emitChange()

  private def isAtRefused: Boolean = spec.emitsRefused && !refused.isEmpty

  private def emitRefused(): InternalRow = {
    val change = ofRefused(refused.reason)
    refused.at match {
      case Some(instant) if hasTime => change.setLong(Time, Micros.of(instant))
      case _ => change.setNullAt(Time)
    }
    val row = joiner.join(change, refused.row)
    refused.clear()
    row
  }

  private def emitChange(): InternalRow = {
    changes.next()
    countRows(1L)
    val ofKind = changes.kind match {
      case ChangeKind.Insert => ofInsert
      case ChangeKind.UpdateBefore => ofUpdate._1
      case ChangeKind.UpdateAfter => ofUpdate._2
      case _ => ofDelete
    }
    val change = ofKind(
      if (reasonCount == 0) changes.window
      else changes.window * reasonCount + changes.reason)
    if (hasTime) change.setLong(Time, Micros.of(changes.at)) else change.setNullAt(Time)
    change.setLong(Step, changes.step)
    change.setLong(Sequence, changes.sequence)
    if (emitsRowIds) {
      change.setLong(Row, changes.ordinal)
      change.setLong(Version, changes.sequence)
    }
    RowBytes.pointTo(content, window, changes.ordinal)
    joiner.join(change, content)
  }

  /** The change columns of a change type, by the number of the window and then of the reason. */
  private def ofType(name: UTF8String): Array[UnsafeRow] = {
    val projection = UnsafeProjection.create(schema)
    val front = Seq[Any](name, null, 0L, 0L) ++ (if (emitsRowIds) Seq(0L, 0L) else Nil)
    val ofWindows =
      if (windows.isEmpty) Seq(front)
      else windows.map(window => front :+ UTF8String.fromString(window))
    val ofReasons =
      if (reasons.isEmpty) ofWindows
      else ofWindows.flatMap(one => reasons.map(why => one :+ UTF8String.fromString(why)))
    ofReasons.map(values => projection(InternalRow.fromSeq(values)).copy()).toArray
  }

  /** The change columns of rows without effect, by the reason. */
  private def refusals: Array[UnsafeRow] = {
    val projection = UnsafeProjection.create(schema)
    Refusal.Names.indices.map { reason =>
      val name = if (reason == Refusal.Late) ChangesReader.Late else ChangesReader.Refused
      val values = Seq.fill[Any](schema.size - 2)(null)
      val all = (name +: values) :+ UTF8String.fromString(Refusal.Names(reason))
      projection(InternalRow.fromSeq(all)).copy()
    }.toArray
  }
}

private object ChangesOutput {
  private val Time = 1
  private val Step = 2
  private val Sequence = 3
  private val Row = 4
  private val Version = 5
}
