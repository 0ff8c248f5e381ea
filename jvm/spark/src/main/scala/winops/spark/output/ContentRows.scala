package winops.spark.output

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.GenericArrayData

import winops.spark.group.GroupState
import winops.spark.internal.WinopsErrors
import winops.spark.plan.KeepPlan
import winops.spark.row.RowBytes

/** Rows with a content as one value: columns that tell of a step, the group's key, and the rows.
  *
  * @param front
  *   how many columns tell of the step
  */
private[spark] final class ContentRows(plan: KeepPlan, front: Int, state: GroupState) {
  val step = new SpecificInternalRow(plan.changeColumns.take(front).map(_.dataType))

  private val content = new UnsafeRow(plan.content.size)
  private val rows = Array.newBuilder[Any]
  private var size = 0L
  private val projection = {
    val columns = plan.output.zipWithIndex
    UnsafeProjection.create(columns.map { case (column, i) =>
      BoundReference(i, column.dataType, column.nullable)
    })
  }

  def clear(): Unit = {
    rows.clear()
    size = 0L
  }

  def add(ordinal: Long): Unit = {
    size += 1
    if (size > plan.spec.maxContent) {
      throw WinopsErrors.runtime(
        "WINOPS_CONTENT_SIZE",
        "maxContent" -> plan.spec.maxContent.toString)
    }
    RowBytes.pointTo(content, state.window, ordinal)
    rows += content.copy()
  }

  /** The row with what was added; valid until the next call. */
  def result(key: UnsafeRow): InternalRow = {
    val array = new GenericInternalRow(Array[Any](new GenericArrayData(rows.result())))
    projection(new JoinedRow(new JoinedRow(step, key), array))
  }
}
