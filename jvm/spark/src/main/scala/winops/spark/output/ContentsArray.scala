package winops.spark.output

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.GenericArrayData

import winops.spark.group.{GroupState, KeepOperation}
import winops.spark.internal.WinopsErrors
import winops.spark.plan.KeepPlan
import winops.spark.row.RowBytes

/** Builds output rows with several rows as one array: the columns that describe a step, the group
  * key, and the array.
  *
  * @param front
  *   number of columns that describe the step
  */
private[spark] final class ContentsArray(
    plan: KeepPlan,
    front: Int,
    state: GroupState[KeepOperation]) {

  /** The columns that describe the step, which the caller fills in. */
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

  /** Adds the row with this ordinal in the open group.
    *
    * @throws WinopsRuntimeException
    *   `WINOPS_CONTENT_SIZE` if there are more rows than the plan allows
    */
  def add(ordinal: Long): Unit = {
    size += 1
    if (size > plan.spec.maxContent) {
      throw WinopsErrors.runtime(
        "WINOPS_CONTENT_SIZE",
        "maxContent" -> plan.spec.maxContent.toString)
    }
    RowBytes.pointTo(content, state.operation.window, ordinal)
    rows += content.copy()
  }

  /** The output row with the rows that were added since [[clear]]; valid until the next call. */
  def result(key: UnsafeRow): InternalRow = {
    val array = new GenericInternalRow(Array[Any](new GenericArrayData(rows.result())))
    projection(new JoinedRow(new JoinedRow(step, key), array))
  }
}
