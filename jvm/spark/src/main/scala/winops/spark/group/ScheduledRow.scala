package winops.spark.group

import winops.storage.rows.RowLog

/** An unsorted row that is released soon, or several of one time and block.
  *
  * @param time
  *   the time of the row in milliseconds
  * @param block
  *   the number of [[ScheduledRow.BlockRows]] ordinals among which is that of the row
  */
private[group] final case class ScheduledRow(time: Long, block: Long)
    extends Ordered[ScheduledRow] {
  override def compare(other: ScheduledRow): Int = {
    val compared = java.lang.Long.compare(time, other.time)
    if (compared != 0) compared else java.lang.Long.compare(block, other.block)
  }

  /** The first ordinal of the block. */
  def from: Long = block * ScheduledRow.BlockRows
}

private[group] object ScheduledRow {

  /** The number of ordinals in a block. A run is read whole for each of its rows, so the shortest
    * runs need no ordinals within them.
    */
  val BlockRows: Long = RowLog.ShortestRun.toLong

  /** The row with a time in milliseconds and an ordinal. */
  def of(time: Long, ordinal: Long): ScheduledRow = ScheduledRow(time, ordinal / BlockRows)
}
