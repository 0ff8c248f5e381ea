package winops.window.single

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.time.Clock

/** Decides for one group which rows enter and leave, and emits the changes; the machine drives it.
  *
  * A row is in the group's rows before it arrives here. What has been told is only forgotten with
  * [[settle]], so that its rows can be read until then.
  */
private[window] abstract class Retainer {

  /** The first instant at which something happens though no row arrives; [[Clock.Never]] if
    * nothing does.
    */
  def due: Long = Clock.Never

  /** Inserts the newest row, which arrives at `at`. Returns false if the row is refused and has to be removed; the changes that it caused are emitted nevertheless.
    */
  def arrive(row: Long, at: Long): Boolean

  /** Does what is due at `due`, an instant that [[due]] gave. */
  def atDue(due: Long): Unit = ()

  /** A window punctuation comes. */
  def punctuate(): Unit = ()

  /** How many rows are still needed. */
  def held: Long

  /** How many of these have not been inserted yet. */
  def notInserted: Long = 0L

  /** Emits the window contents, in the order of the window. */
  def emitContents(): Unit

  /** Reports the window contents as `kind`. */
  def report(kind: Int): Unit

  /** Emits deletes for all rows, which leave with their group. */
  def leaveAll(): Unit

  /** Forgets the rows that have left. */
  def settle(): Unit

  /** Starts with a group without rows: those before `rows.end` do not count. */
  def clear(): Unit

  /** Stores what the rows do not say; all that has left has been forgotten before. */
  def save(out: ByteWriter): Unit = ()

  def restore(in: ByteReader): Unit
}
