package winops.window.rules

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.changes.ChangeReason
import winops.window.time.Clock

/** Decides when the contents of a window that emits net changes change. */
private[window] abstract class NetTrigger {

  /** Returns true if the pending rows enter with the row that arrives at `at`.
    *
    * @param pending
    *   number of pending rows, the arriving one included
    */
  def entersAt(at: Long, pending: Long): Boolean

  /** The [[ChangeReason]] of inserts. */
  def reason: Int = ChangeReason.Trigger

  /** The instant at which a row enters that arrived at `at` and did not enter then. */
  def after(at: Long): Long = Clock.Never

  /** The instant at which a row leaves that expired at `instant`. */
  def at(instant: Long): Long = instant

  /** Notes the arrival of a row. */
  def arrive(at: Long): Unit = ()

  def clear(): Unit = ()
  def save(out: ByteWriter): Unit = ()
  def restore(in: ByteReader): Unit = ()
}
