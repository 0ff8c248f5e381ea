package winops.spark.row

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, UnsafeProjection, UnsafeRow}

/** The values of expressions of a stored row, in a row of their own that does not change when
  * another stored row is looked at.
  *
  * @param content
  *   the columns of a stored row
  */
private[spark] final class StoredValues(
    expressions: Seq[Expression],
    content: Seq[Attribute],
    rows: StoredRows) {
  private val stored = new UnsafeRow(content.size)
  private val projection = UnsafeProjection.create(expressions, content)

  /** The values of the row with this ordinal, until the next call. */
  def of(ordinal: Long): UnsafeRow = {
    rows.pointTo(stored, ordinal)
    projection(stored)
  }
}
