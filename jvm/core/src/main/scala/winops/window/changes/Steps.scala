package winops.window.changes

import winops.policy.Stream
import winops.storage.bytes.{ByteReader, ByteWriter}

/** Numbers steps and their changes and writes those that are emitted into a queue.
  *
  * The steps are those of one group or, where groups depend on each other, of all of them: a step
  * of several groups is begun before the first and ended after the last.
  */
final class Steps(changes: ChangeQueue, stream: Stream) {
  private val tellsInserts = stream.inserts
  private val tellsDeletes = stream.deletes
  private var at = Long.MinValue
  private var number = 0L
  private var sequence = 0L
  private var told = false
  private var depth = 0
  private var silent = 0L

  /** The number of the window whose changes are written, of several independent ones. */
  private[window] var window: Int = 0

  /** Number of rows that were evicted without a delete, by any machine that these steps are of.
    */
  def rowsEvictedSilently: Long = silent

  /** Counts rows that were evicted without a delete. */
  private[window] def evictSilently(rows: Long): Unit = silent += rows

  /** Begins a step at an instant, in milliseconds, or a part of the step that has begun. */
  def begin(instant: Long): Unit = {
    if (depth == 0) {
      at = instant
      told = false
    }
    depth += 1
  }

  /** Ends the step that was begun last; a step that emitted nothing has no number. */
  def end(): Unit = {
    depth -= 1
    if (depth == 0 && told) number += 1
  }

  /** Inserts the rows from `from` until `until`. */
  private[window] def insert(from: Long, until: Long): Unit =
    if (tellsInserts && from < until) change(ChangeKind.Insert, from, until)

  /** The rows from `from` until `until` left. */
  private[window] def delete(from: Long, until: Long): Unit =
    if (tellsDeletes && from < until) change(ChangeKind.Delete, from, until)

  /** The rows from `from` until `until` left because their whole group did. */
  private[window] def deleteGroup(from: Long, until: Long): Unit =
    if (tellsDeletes && from < until) change(ChangeKind.GroupDelete, from, until)

  /** Reports the rows from `from` until `until`, which may be none; they stay. */
  private[window] def report(kind: Int, from: Long, until: Long): Unit = {
    changes.add(kind, from, until, at, number, sequence, window)
    told = true
  }

  /** Emits a trigger at which nothing happened; the step gets no number by that. */
  private[window] def emptyTrigger(): Unit =
    changes.add(ChangeKind.EmptyTrigger, 0L, 0L, at, number, sequence, window)

  /** The rows from `from` until `until` are the content, or a part of it; no change has made it.
    */
  private[window] def content(from: Long, until: Long): Unit =
    if (from < until) changes.add(ChangeKind.Insert, from, until, at, number, sequence, window)

  def clear(): Unit = {
    number = 0L
    sequence = 0L
    told = false
  }

  def save(out: ByteWriter): Unit = {
    out.number(number)
    out.number(sequence)
  }

  def restore(in: ByteReader): Unit = {
    number = in.number()
    sequence = in.number()
  }

  private def change(kind: Int, from: Long, until: Long): Unit = {
    changes.add(kind, from, until, at, number, sequence, window)
    sequence += until - from
    told = true
  }
}
