package winops.window.single

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.time.Clock

/** Decides for one group which rows come in and leave, and tells it; the machine drives it.
  *
  * A row is in the group's rows before it arrives here. What has been told is only forgotten with
  * [[settle]], so that its rows can be read until then.
  */
private[window] abstract class Retainer {

  /** The first instant at which something happens though no row arrives; [[Clock.Never]] if
    * nothing does.
    */
  def due: Long = Clock.Never

  /** Takes in the newest row, which arrives at `at`; false if it may not come in at all and is to
    * be forgotten. What it caused all the same is told.
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

  /** Tells the content, in the order of the window. */
  def emitContents(): Unit

  /** Tells `kind` of the content. */
  def report(kind: Int): Unit

  /** Tells that all rows leave with their group. */
  def leaveAll(): Unit

  /** Forgets the rows that have left. */
  def settle(): Unit

  /** Starts with a group that has no rows that count: those before `rows.end` are gone. */
  def clear(): Unit

  /** Stores what the rows do not say; all that has left has been forgotten before. */
  def save(out: ByteWriter): Unit = ()

  def restore(in: ByteReader): Unit
}
