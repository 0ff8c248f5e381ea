package winops.window.rules

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.time.Clock

/** Decides when the contents of an event window are reported. */
private[window] abstract class ReportTrigger {

  /** Returns true if the row has the value that the trigger reads. */
  def admits(row: Long): Boolean = true

  /** Returns true if the contents are reported before the newest row enters and evicts others. */
  def beforeRow(row: Long): Boolean = false

  /** Returns true if the contents are reported after a row entered.
    *
    * @param isFirst
    *   true if the window was empty before the row
    */
  def afterRow(at: Long, isFirst: Boolean): Boolean = false

  /** The instant at which the contents, which are not empty, are reported though no row arrives;
    * [[Clock.Never]] if none.
    */
  def due: Long = Clock.Never

  /** Notes that a timer reported the contents at `at`. */
  def fired(at: Long): Unit = ()

  /** Passes over the timers up to `until`, and returns their number. */
  def skip(until: Long): Long = 0L

  def clear(): Unit = ()
  def save(out: ByteWriter): Unit = ()
  def restore(in: ByteReader): Unit = ()
}
