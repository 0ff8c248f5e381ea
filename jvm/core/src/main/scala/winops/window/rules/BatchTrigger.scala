package winops.window.rules

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.expression.WindowView
import winops.window.time.Clock

/** Decides when a batch is complete. */
private[window] abstract class BatchTrigger {

  /** Returns true if the batch that begins with `first` is complete without the newest row. */
  def endsBefore(row: Long, first: Long): Boolean = false

  /** Adds the newest row to the batch that begins with `first` and now has `count` rows. Returns
    * the ordinal before which the batch ends if it is complete, else [[WindowView.NoRow]].
    */
  def endAfter(row: Long, at: Long, first: Long, count: Long): Long = WindowView.NoRow

  /** Returns true if the batch is complete after other windows have evicted rows of it. The batch
    * goes from `first` to `last` and has `count` rows left.
    */
  def isCompleteAfterLoss(first: Long, last: Long, count: Long): Boolean = false

  /** The instant at which the batch is complete though no row arrives; [[Clock.Never]] if none.
    */
  def due: Long = Clock.Never

  /** Notes that a batch was inserted at `at`.
    *
    * @param byTime
    *   true if a timer completed the batch, false if a row did
    * @param something
    *   true if any row was inserted or deleted
    */
  def posted(at: Long, byTime: Boolean, something: Boolean): Unit = ()

  /** Passes over the timers up to `until`, while no row is held. */
  def skip(until: Long): Unit = ()

  /** Returns true if a batch without inserts and deletes emits an empty trigger. */
  def emitsEmpty: Boolean = false

  def clear(): Unit = ()
  def save(out: ByteWriter): Unit = ()
  def restore(in: ByteReader): Unit = ()
}
