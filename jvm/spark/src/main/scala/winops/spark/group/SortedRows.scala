package winops.spark.group

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Releases rows that have been read and sorted. */
private[group] abstract class SortedRows extends WaitingRows {
  private var taken = 0

  /** The rows, in the order of their release. */
  protected def due: Array[UnsafeRow]

  override def first: UnsafeRow = if (taken == due.length) null else due(taken)
  override def take(): Unit = taken += 1
}
