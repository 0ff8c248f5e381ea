package winops.spark.output

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeRowJoiner
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.group.{GroupState, KeepOperation}
import winops.spark.internal.KeepMetrics
import winops.spark.plan.KeepPlan
import winops.spark.row.{Micros, RowBytes}
import winops.window.changes.{ChangeQueue, ChangeReason}

/** Emits each insert and each delete as one output row: the change columns, then the row. The two
  * are joined as bytes and not column by column.
  */
private final class ChangesOutput(
    plan: KeepPlan,
    changes: ChangeQueue,
    state: GroupState[KeepOperation],
    hasTime: Boolean,
    metrics: KeepMetrics)
    extends ChangesReader(changes, metrics) {
  import ChangesOutput._

  private val window = state.operation.window
  private val content = new UnsafeRow(plan.content.size)

  /** The names of the windows, and then of those that a restart has removed. */
  private val windows = plan.spec.policy.windowNames match {
    case Seq() => Nil
    case names => names ++ plan.spec.restart.removedWindows(names)
  }
  private val reasons: Seq[String] =
    if (!plan.spec.emitsReasons) Nil
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
  private val joiner =
    GenerateUnsafeRowJoiner.create(schema, DataTypeUtils.fromAttributes(plan.content))

  override def hasNext: Boolean = isAtChange

  override protected def emit(): InternalRow = {
    changes.next()
    countRows(1L)
    val change = (if (changes.isInsert) ofInsert else ofDelete) (
      if (reasonCount == 0) changes.window
      else changes.window * reasonCount + changes.reason)
    if (hasTime) change.setLong(Time, Micros.of(changes.at)) else change.setNullAt(Time)
    change.setLong(Step, changes.step)
    change.setLong(Sequence, changes.sequence)
    RowBytes.pointTo(content, window, changes.ordinal)
    joiner.join(change, content)
  }

  /** The change columns of a change type, by the number of the window and then of the reason. */
  private def ofType(name: UTF8String): Array[UnsafeRow] = {
    val projection = UnsafeProjection.create(schema)
    val front = Seq[Any](name, null, 0L, 0L)
    val ofWindows =
      if (windows.isEmpty) Seq(front)
      else windows.map(window => front :+ UTF8String.fromString(window))
    val ofReasons =
      if (reasons.isEmpty) ofWindows
      else ofWindows.flatMap(one => reasons.map(why => one :+ UTF8String.fromString(why)))
    ofReasons.map(values => projection(InternalRow.fromSeq(values)).copy()).toArray
  }
}

private object ChangesOutput {
  private val Time = 1
  private val Step = 2
  private val Sequence = 3
}
