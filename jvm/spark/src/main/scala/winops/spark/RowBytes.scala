package winops.spark

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

import winops.log.RowLog

/** Rows of Spark in a [[RowLog]], as the bytes they are. */
object RowBytes {
  def append(log: RowLog, arrival: Long, row: UnsafeRow): Unit = {
    val position = log.append(arrival, row.getSizeInBytes)
    row.writeToMemory(log.target, Platform.BYTE_ARRAY_OFFSET + position.toLong)
  }

  /** Makes `row` the row with this ordinal, until the next call of any method of the log. */
  def pointTo(row: UnsafeRow, log: RowLog, ordinal: Long): Unit = {
    log.find(ordinal)
    row.pointTo(log.rowBytes, Platform.BYTE_ARRAY_OFFSET + log.rowPosition.toLong, log.rowLength)
  }
}
