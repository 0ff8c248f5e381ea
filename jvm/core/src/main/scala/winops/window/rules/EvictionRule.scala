package winops.window.rules

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.changes.ChangeReason
import winops.window.time.Clock

/** A rule by which a window evicts its oldest rows: because there are too many, or because time
  * has passed. All kinds of windows use the same rules. When a batch ends or contents are
  * reported, a trigger decides.
  */
private[window] abstract class EvictionRule {

  /** Returns true if [[due]] is an instant for any row. */
  def usesTime: Boolean

  /** Notes that a row arrives at `at`. */
  def arrive(at: Long): Unit = ()

  /** Number of oldest rows that leave if the window has `size` rows. */
  def excess(size: Long): Long = 0L

  /** The instant at which a row expires; [[Clock.Never]] if time does not evict the row. No row
    * expires before an older one.
    */
  def due(row: Long): Long = Clock.Never

  /** The first row from `head` until `end` that has not expired at the instant; `end` if all rows
    * have. There is at least one row, and no ordinal is missing.
    */
  def firstStaying(head: Long, end: Long, at: Long): Long = {
    var row = head
    while (row < end && due(row) <= at) row += 1
    row
  }

  /** The [[ChangeReason]] of the rows of [[excess]]. */
  def excessReason: Int = ChangeReason.Displaced

  /** The [[ChangeReason]] of the rows that time evicts. */
  def reason: Int = ChangeReason.Expired

  def clear(): Unit = ()
  def save(out: ByteWriter): Unit = ()
  def restore(in: ByteReader): Unit = ()
}

/** Evicts no row. */
private[window] case object NoRule extends EvictionRule {
  override def usesTime: Boolean = false
  override def firstStaying(head: Long, end: Long, at: Long): Long = head
}
