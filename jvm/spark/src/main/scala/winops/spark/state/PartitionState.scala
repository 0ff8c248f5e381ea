package winops.spark.state

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.spark.internal.KeepMetrics

/** The state that the groups of a task have together: their timers, their numbers, and the time
  * that has passed.
  */
trait PartitionState {

  /** The instant up to which timers of all groups fired in earlier batches. */
  def timePassed: Long

  /** The stored number of rows, which [[count]] changes; 0 if none is stored. */
  def rowsHeld: Long

  /** The query that stored all groups, if a restart has changed what is stored with them. */
  def rebuilt: Option[RebuiltState] = None

  /** Cancels the expired timer of a group that is processed anyway. */
  def cancel(key: UnsafeRow): Unit

  /** The next group whose timer has expired, in the order in which groups are processed; null
    * after the last.
    */
  def nextExpired(): UnsafeRow

  /** The next group whose timer has expired, if it precedes a group that has rows; otherwise
    * null.
    */
  def nextExpiredBefore(key: UnsafeRow): UnsafeRow

  /** Registers a timer of a group that fires at `due`; the key is copied. */
  def register(due: Long, key: UnsafeRow): Unit

  /** Adds to the stored numbers of groups, of rows, and of rows that wait for the watermark.
    * `rows` includes `waiting`.
    */
  def count(groups: Long, rows: Long, waiting: Long): Unit

  /** Receives the number of rows of each group that was processed, for the largest groups. */
  def measure(key: UnsafeRow, rows: Long): Unit = ()
}

/** The numbers of a batch query, which processes every group once and needs no timers. */
final class TransientPartitionState(metrics: KeepMetrics) extends PartitionState {
  override def timePassed: Long = Long.MinValue
  override def rowsHeld: Long = 0L
  override def cancel(key: UnsafeRow): Unit = ()
  override def nextExpired(): UnsafeRow = null
  override def nextExpiredBefore(key: UnsafeRow): UnsafeRow = null
  override def register(due: Long, key: UnsafeRow): Unit = ()

  override def count(groups: Long, rows: Long, waiting: Long): Unit = {
    metrics.groups += groups
    metrics.held += rows
    metrics.waiting += waiting
  }
}
