package winops.spark.row

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** The rows of the open group where they are stored. */
trait StoredRows {

  /** Makes `row` the row with this ordinal, until the next call. */
  def pointTo(row: UnsafeRow, ordinal: Long): Unit
}
