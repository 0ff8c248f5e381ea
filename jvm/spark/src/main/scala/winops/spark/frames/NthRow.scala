package winops.spark.frames

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

/** The value of `nth_value` over a frame whose first and last row both move.
  *
  * @param function
  *   the function
  * @param lower
  *   the boundary before the first row of the frame
  * @param upper
  *   the boundary behind the last row of the frame
  */
private[frames] final class NthRow(
    function: NthValue,
    rows: FrameRows,
    lower: Boundary,
    upper: Boundary)
    extends MovingFrame(lower, upper) {
  private val distance = function.offset.eval().asInstanceOf[Int].toLong
  private val valueOf = UnsafeProjection.create(Seq(function.input), rows.columns)
  private val none = UnsafeProjection.create(Seq(Literal(null, function.dataType)))
  private val found = new UnsafeRow(rows.columns.size)

  override def of(row: Long): UnsafeRow = {
    val until = upper.moveTo(row)
    val from = lower.moveTo(row)
    if (function.ignoreNulls) nthValue(from, until)
    else if (from + distance <= until) valueAt(from + distance - 1)
    else none(InternalRow.empty)
  }

  private def nthValue(from: Long, until: Long): UnsafeRow = {
    var missing = distance
    var ordinal = from
    var value: UnsafeRow = null
    while (missing > 0 && ordinal < until) {
      value = valueAt(ordinal)
      if (!value.isNullAt(0)) missing -= 1
      ordinal += 1
    }
    if (missing == 0) value else none(InternalRow.empty)
  }

  private def valueAt(ordinal: Long): UnsafeRow = {
    rows.pointTo(found, ordinal)
    valueOf(found)
  }
}
