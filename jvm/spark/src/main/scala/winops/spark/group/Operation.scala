package winops.spark.group

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.spark.internal.KeepMetrics
import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.time.GroupClock

/** Processes the rows of the open group in the order in which they are applied.
  *
  * A task calls [[fireNext]] until it returns false, then [[arrive]] for the row at that instant,
  * and [[release]] when the output of either has been read. An instance is reused from group to
  * group: [[restoreRows]] with [[restoreResults]], or [[clear]], start the next group.
  */
trait Operation {

  /** The clock of the group. */
  def clock: GroupClock

  /** The number of stored rows. */
  def held: Long

  /** The number of stored rows that wait for the rows that follow. */
  def waiting: Long

  /** The time in milliseconds at which there is work to do without a row; [[Clock.Never]] if
    * there is none.
    */
  def nextDue: Long

  /** Does the work of the earliest timer and returns true if it is due at `instant`. Otherwise
    * moves the clock to `instant` and returns false.
    */
  def fireNext(instant: Long): Boolean

  /** Applies a row at the instant of the clock. Returns true if the row is one of the group, and
    * not a punctuation or behind the end of the input.
    */
  def arrive(row: UnsafeRow, at: Long): Boolean

  /** The reason for which the last row of [[arrive]] has no effect, one of [[Refusal]]. */
  def refusal: Int = Refusal.None

  /** Says how many rows the group may hold beside those that wait, before [[arrive]]. */
  def limit(rows: Long): Unit = ()

  /** Ends the micro-batch for the group.
    *
    * @param known
    *   the time in microseconds before which all rows have arrived
    * @param isLast
    *   true if no further row arrives
    */
  def endBatch(known: Long, isLast: Boolean): Unit

  /** Removes the rows that have left; their output has been read. */
  def release(): Unit

  /** Removes the rows that no row from the time `known` on needs, in microseconds. Returns the
    * time in milliseconds at which there will be others; [[Clock.Never]] if time does not decide.
    */
  def releaseOutOfReach(known: Long): Long

  /** Starts with a group that has no rows. */
  def clear(): Unit

  /** Removes the stored rows of the group, whose pages the caller removes. */
  def forget(): Unit

  /** Brings the stored pages up to date, before they are written. */
  def settle(): Unit

  /** Stores everything but the instant of the clock and the pages, which the caller stores
    * before.
    */
  def save(out: ByteWriter): Unit

  /** Restores the rows and the clock. Readers that do not know the query can do so too. */
  def restoreRows(in: ByteReader): Unit

  /** Restores what the query computes of the rows. */
  def restoreResults(in: ByteReader): Unit

  /** Adds what was counted in all groups to the metrics of the task. */
  def count(metrics: KeepMetrics): Unit
}
