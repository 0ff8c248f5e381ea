package winops.window.rules

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.time.Clock

/** Windows that decide together about rows, in the order of the policy. */
private[window] final class CombinedParts(parts: Array[Part]) {
  private val admitted = new Array[Boolean](parts.length)

  def size: Int = parts.length
  def apply(index: Int): Part = parts(index)

  /** The instant at which the next row of any window expires; [[Clock.Never]] if none does. */
  def due: Long = {
    var first = Clock.Never
    var i = 0
    while (i < parts.length) {
      first = Math.min(first, parts(i).due)
      i += 1
    }
    first
  }

  /** Passes over timers up to `until` that would change no row. */
  def skipReports(until: Long): Unit = {
    var i = 0
    while (i < parts.length) {
      parts(i).skipReports(until)
      i += 1
    }
  }

  /** Inserts the newest row into the windows that admit it, and returns their number. */
  def offer(row: Long, at: Long, evicted: EvictedRows): Int = {
    var count = 0
    var i = 0
    while (i < parts.length) {
      admitted(i) = parts(i).admits(row, at)
      if (admitted(i)) {
        parts(i).arrive(row, at, evicted)
        count += 1
      }
      i += 1
    }
    count
  }

  /** Removes the row that was offered last, and is refused, from the windows that admitted it. */
  def takeBack(row: Long): Unit = {
    var i = 0
    while (i < parts.length) {
      if (admitted(i)) parts(i).takeBack(row)
      i += 1
    }
  }

  /** Returns true if any window holds the row. */
  def holds(row: Long): Boolean = {
    var i = 0
    while (i < parts.length && !parts(i).holds(row)) i += 1
    i < parts.length
  }

  def forget(row: Long): Unit = parts.foreach(_.forget(row))
  def startFrom(row: Long): Unit = parts.foreach(_.startFrom(row))
  def afterForgetting(): Unit = parts.foreach(_.afterForgetting())
  def clear(): Unit = parts.foreach(_.clear())
  def save(out: ByteWriter): Unit = parts.foreach(_.save(out))
  def restore(in: ByteReader): Unit = parts.foreach(_.restore(in))
}
