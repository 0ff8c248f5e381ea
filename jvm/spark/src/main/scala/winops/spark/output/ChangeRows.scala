package winops.spark.output

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeRowJoiner
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.plan.KeepPlan
import winops.spark.row.Micros
import winops.window.changes.{ChangeQueue, ChangeReason}

/** Joins the columns that describe a change with the columns of its row. Each change has one row,
  * so the two are joined as bytes and not column by column.
  */
private final class ChangeRows(plan: KeepPlan) {
  import ChangeRows._

  private val windows = plan.spec.policy.windowNames
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
  private val ofInsert = ofType(Insert)
  private val ofDelete = ofType(Delete)
  private val joiner =
    GenerateUnsafeRowJoiner.create(schema, DataTypeUtils.fromAttributes(plan.content))

  /** The output row of the current change of `changes`; valid until the next call. */
  def of(changes: ChangeQueue, hasTime: Boolean, content: UnsafeRow): UnsafeRow = {
    val change = (if (changes.isInsert) ofInsert else ofDelete) (
      if (reasonCount == 0) changes.window
      else changes.window * reasonCount + changes.reason)
    if (hasTime) change.setLong(Time, Micros.of(changes.at)) else change.setNullAt(Time)
    change.setLong(Step, changes.step)
    change.setLong(Sequence, changes.sequence)
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

private object ChangeRows {
  val Insert: UTF8String = UTF8String.fromString("insert")
  val Delete: UTF8String = UTF8String.fromString("delete")

  private val Time = 1
  private val Step = 2
  private val Sequence = 3
}
