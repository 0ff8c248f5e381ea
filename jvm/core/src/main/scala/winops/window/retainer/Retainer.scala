package winops.window.retainer

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.time.Clock

/** Decides which rows of one group enter and leave, and emits the changes; the machine drives it.
  *
  * The caller appends a row to the group's rows before [[arrive]]. A deleted row is removed from
  * the group's rows only by [[settle]], so that readers of the changes can read the row until
  * then.
  */
private[window] abstract class Retainer {

  /** The earliest timer; [[Clock.Never]] if there is none. */
  def due: Long = Clock.Never

  /** Inserts the newest row, which arrives at `at`. Returns false if the window refuses the row
    * and the caller has to remove it; changes that the row caused are emitted even then.
    */
  def arrive(row: Long, at: Long): Boolean

  /** Applies the newest row, which arrives at `at`, as one of [[winops.terms.RowOperation]].
    * Returns one of [[winops.window.changes.RowOutcome]]; the caller has to remove the row unless
    * it was inserted or its values are those of an update.
    *
    * @param hasRoom
    *   false if no row may be inserted
    */
  def operate(operation: Int, row: Long, at: Long, hasRoom: Boolean): Int =
    throw new UnsupportedOperationException("rows of this window have no primary key")

  /** Fires the timers of `due`, an instant that [[due]] returned. */
  def atDue(due: Long): Unit = ()

  /** Passes over timers up to `until` that would report unchanged contents and change no row.
    * Returns the number of steps that the reports would have taken.
    */
  def skipReports(until: Long): Long = 0L

  /** Handles a window punctuation. */
  def punctuate(): Unit = ()

  /** Number of rows that the window still needs, pending rows included. */
  def held: Long

  /** Number of pending rows: rows that are held and not yet inserted. */
  def notInserted: Long = 0L

  /** Emits the window contents, in the order of the window. */
  def emitContents(): Unit

  /** Emits the rows that were inserted and not deleted, which a batch window holds beside its
    * contents.
    */
  def emitInserted(): Unit = emitContents()

  /** Reports the window contents as `kind`. */
  def report(kind: Int): Unit

  /** Emits deletes for all rows, because the group is removed.
    *
    * @param reason
    *   one of [[winops.window.changes.ChangeReason]]
    */
  def leaveAll(reason: Int): Unit

  /** Removes the rows that have left from the group's rows. */
  def settle(): Unit

  /** Starts with a group that has no rows: rows before `rows.end` do not count. */
  def clear(): Unit

  /** Stores the state that the rows do not contain; the caller calls [[settle]] first. */
  def save(out: ByteWriter): Unit = ()

  /** Restores a saved group; the caller restores the group's rows first. */
  def restore(in: ByteReader): Unit
}
