package winops.spark.group

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** A row without effect, from the unit of work that has tested it until the output is read. */
final class RefusedRow {

  /** The row with the columns that a window holds; null if there is none. */
  var row: UnsafeRow = _

  /** One of [[Refusal]]. */
  var reason: Int = Refusal.None

  /** The instant of the group in milliseconds, if the row was tested at one. */
  var at: Option[Long] = None

  def isEmpty: Boolean = row == null

  def set(row: UnsafeRow, reason: Int, at: Option[Long]): Unit = {
    this.row = row
    this.reason = reason
    this.at = at
  }

  def clear(): Unit = row = null
}
