package winops.spark.state

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** One stored value of a group: its own value or one of its sealed segments.
  *
  * @param key
  *   the bytes of the group key
  * @param number
  *   the number of the entry, of [[EntryNumbers]]
  * @param content
  *   the stored bytes
  */
final case class GroupPiece(key: Array[Byte], number: Long, content: Array[Byte]) {
  def isOwnValue: Boolean =
    number == EntryNumbers.Bucket || number == EntryNumbers.OwnValue

  /** Returns the group key as a row of `columns` columns. */
  def group(columns: Int): UnsafeRow = {
    val row = new UnsafeRow(columns)
    row.pointTo(key, key.length)
    row
  }
}
