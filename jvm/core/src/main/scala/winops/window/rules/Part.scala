package winops.window.rules

import scala.collection.mutable

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.time.Clock

/** One of the windows that decide together about the rows of a group. The window evicts rows, and
  * forgets the rows that other windows have evicted.
  */
private[window] abstract class Part {

  /** Returns true if the newest row may enter. */
  def admits(row: Long, at: Long): Boolean = true

  /** Returns true if a row leaves the group if the newest row enters, which then needs no room:
    * the newest row replaces it, or it is the last one behind the window.
    */
  def replaces(row: Long): Boolean = false

  /** Inserts the newest row, and evicts the rows that exceed the window's bound. */
  def arrive(row: Long, at: Long, evicted: EvictedRows): Unit

  /** Gives a row that the window holds the values of the newest row, `values`, and evicts rows
    * for which there is no place beside it.
    */
  def update(row: Long, values: Long, evicted: EvictedRows): Unit =
    throw new UnsupportedOperationException("rows of this window have no primary key")

  /** The instant at which the next row expires; [[Clock.Never]] if none does. */
  def due: Long = Clock.Never

  /** Evicts the rows that expire at `due`, an instant that [[due]] gave. */
  def atDue(due: Long, evicted: EvictedRows): Unit = ()

  /** Passes over timers up to `until` that would change no row. */
  def skipReports(until: Long): Unit = ()

  /** Forgets a row that has left; does nothing if the window does not hold the row. */
  def forget(row: Long): Unit

  /** Forgets the newest row, which this window took and another one refused. The next row gets
    * the same ordinal.
    */
  def takeBack(row: Long): Unit = forget(row)

  /** Gives up all rows before `row`; each of them has been forgotten. */
  def startFrom(row: Long): Unit = ()

  /** Runs after the last call of [[forget]] for rows that left or were refused. The call is in
    * the same step as these, so the rows need not be stored.
    */
  def afterForgetting(): Unit = ()

  /** Returns true if the row is stored behind the window, and can return from there. */
  def isBehind(row: Long): Boolean = false

  /** Lets rows return from behind the window while it has room, because a row has left, or
    * because a restart has made the window longer.
    */
  def refill(evicted: EvictedRows): Unit = ()

  /** Returns true if the window holds the row, which has not left the group. */
  def holds(row: Long): Boolean

  /** The rows in the window's own order; null if that is arrival order. */
  def inOrder: mutable.ArrayBuffer[Long] = null

  /** Starts with a group that has no rows. */
  def clear(): Unit
  def save(out: ByteWriter): Unit
  def restore(in: ByteReader): Unit
}
