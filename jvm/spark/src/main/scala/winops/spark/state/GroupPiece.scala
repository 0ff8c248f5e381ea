package winops.spark.state

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** What is stored of a group in one place: its own value or one of its segments.
  *
  * @param key
  *   the bytes of the group's key
  * @param number
  *   of the segment; 0 for the group's own value
  */
final case class GroupPiece(key: Array[Byte], number: Long, content: Array[Byte]) {
  def isOwnValue: Boolean = number == GroupBuckets.BucketNumber

  /** The group's key, which has this many columns. */
  def group(columns: Int): UnsafeRow = {
    val row = new UnsafeRow(columns)
    row.pointTo(key, key.length)
    row
  }
}
