package winops.spark.row

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Reads the stored rows of the open group. */
trait StoredRows {

  /** Points `row` to the row with this ordinal. The row is valid until the next call. */
  def pointTo(row: UnsafeRow, ordinal: Long): Unit
}
