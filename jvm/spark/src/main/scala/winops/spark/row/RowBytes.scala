package winops.spark.row

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

import winops.storage.rows.RowStore

/** Writes and reads Spark's rows in a [[RowStore]]. */
object RowBytes {
  def append(log: RowStore, arrival: Long, row: UnsafeRow): Unit = {
    val position = log.append(arrival, row.getSizeInBytes)
    row.writeToMemory(log.target, Platform.BYTE_ARRAY_OFFSET + position.toLong)
  }

  /** Points `row` to the row with this ordinal. The row is valid until the next call of any
    * method of `log`.
    */
  def pointTo(row: UnsafeRow, log: RowStore, ordinal: Long): Unit = {
    log.find(ordinal)
    row.pointTo(log.rowBytes, Platform.BYTE_ARRAY_OFFSET + log.rowPosition.toLong, log.rowLength)
  }
}
