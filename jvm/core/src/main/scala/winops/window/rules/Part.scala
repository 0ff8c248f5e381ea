package winops.window.rules

import scala.collection.mutable

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.time.Clock

/** One of the windows that decide over the rows of a group together: it evicts rows and forgets those that others have evicted.
  */
private[window] abstract class Part {

  /** Returns true if the row has no value for what the window reads of every row. Such a row
    * enters none of the windows that decide together, and none of them evicts a row for it.
    */
  def lacksValue(row: Long): Boolean = false

  /** Returns true if the newest row may enter. */
  def admits(row: Long, at: Long): Boolean = true

  /** Inserts the newest row, and evicts the rows that are then too many. */
  def arrive(row: Long, at: Long, evicted: Evicted): Unit

  /** The first instant at which rows leave though none arrives. */
  def due: Long = Clock.Never

  /** Evicts the rows that expire at `due`, an instant that [[due]] gave. */
  def atDue(due: Long, evicted: Evicted): Unit = ()

  /** A row left though this window held it; nothing if it did not. */
  def forget(row: Long): Unit

  /** The newest row is refused, though this window took it: its ordinal is given again. */
  def takeBack(row: Long): Unit = forget(row)

  /** All rows before `row` are no longer its own, of which each has been forgotten. */
  def startFrom(row: Long): Unit = ()

  /** Rows have left though this window held them, or were refused. Called in the step in which
    * [[forget]] was called, after the last such call, so that nothing of it has to be stored.
    */
  def afterForgetting(): Unit = ()

  /** Returns true if the window holds a row that is still there. */
  def holds(row: Long): Boolean

  /** The rows in the window's own order; null when that is the order of arrival. */
  def inOrder: mutable.ArrayBuffer[Long] = null

  /** Starts with a group that has no rows. */
  def clear(): Unit
  def save(out: ByteWriter): Unit
  def restore(in: ByteReader): Unit
}

private[window] object Part {

  /** Returns true if any of the windows finds no value in the row. */
  def lacksValue(parts: Array[Part], row: Long): Boolean = {
    var i = 0
    while (i < parts.length && !parts(i).lacksValue(row)) i += 1
    i < parts.length
  }
}
