package winops.spark.state

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.spark.internal.KeepMetrics

/** The groups of a task that have something to do at a time of their own. */
trait TimerService {

  /** The instant to which time had passed for every group before. */
  def timePassed: Long

  /** Strikes out a group that is worked on anyway. */
  def cancel(key: UnsafeRow): Unit

  /** Takes a group whose time has come; null when there is none left. Nothing may be struck out
    * after the first call.
    */
  def nextExpired(): UnsafeRow

  /** Enters a group to be taken when `due` has come; the key is copied. */
  def register(due: Long, key: UnsafeRow): Unit

  /** Tells that this many groups, rows, and rows that wait for the watermark, more (or less) are
    * remembered than before. Rows that wait are among the rows.
    */
  def count(groups: Long, rows: Long, waiting: Long): Unit
}

/** Of a table, whose groups are all worked on once. */
final class NoTimerService(metrics: KeepMetrics) extends TimerService {
  override def timePassed: Long = Long.MinValue
  override def cancel(key: UnsafeRow): Unit = ()
  override def nextExpired(): UnsafeRow = null
  override def register(due: Long, key: UnsafeRow): Unit = ()

  override def count(groups: Long, rows: Long, waiting: Long): Unit = {
    metrics.groups += groups
    metrics.held += rows
    metrics.waiting += waiting
  }
}
