package winops.spark.row

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, UnsafeProjection, UnsafeRow}

/** Evaluates expressions over stored rows. The values are in a row of their own, which does not
  * change when another stored row is read.
  *
  * @param expressions
  *   the expressions
  * @param content
  *   the columns of a stored row
  * @param rows
  *   the stored rows
  */
private[spark] final class StoredValues(
    expressions: Seq[Expression],
    content: Seq[Attribute],
    rows: StoredRows) {
  private val stored = new UnsafeRow(content.size)
  private val projection = UnsafeProjection.create(expressions, content)

  /** Returns the values for the row with this ordinal, valid until the next call. */
  def of(ordinal: Long): UnsafeRow = {
    rows.pointTo(stored, ordinal)
    projection(stored)
  }
}
