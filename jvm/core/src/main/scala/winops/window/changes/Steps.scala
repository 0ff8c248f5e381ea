package winops.window.changes

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.storage.rows.Rows
import winops.terms.Stream

/** Numbers steps and their changes, and writes emitted changes into a queue.
  *
  * The steps are those of one group or, for cross-group policies, of all groups. A step may span
  * several groups: calls of [[begin]] and [[end]] nest, and the outermost pair bounds the step.
  *
  * @param stream
  *   the stream of changes, which says if inserts and deletes are emitted
  * @param ignoresReports
  *   true if the reader of the changes skips reports and empty triggers
  */
final class Steps(
    changes: ChangeQueue,
    stream: Stream,
    private[window] val ignoresReports: Boolean = false) {
  private val emitsInserts = stream.inserts
  private val emitsDeletes = stream.deletes
  private var at = Long.MinValue
  private var number = 0L
  private var sequence = 0L
  private var emitted = false
  private var depth = 0
  private var silent = 0L

  /** The number of the independent window whose changes are being written. */
  private[window] var window: Int = 0

  /** Number of rows that all machines sharing these steps evicted without a delete. */
  def rowsEvictedSilently: Long = silent

  /** The instant of the last step, in milliseconds. */
  def instant: Long = at

  /** Counts rows that were evicted without a delete. */
  private[window] def evictSilently(rows: Long): Unit = silent += rows

  /** Begins a step at an instant, in milliseconds, or a nested part of the current step. */
  def begin(instant: Long): Unit = {
    if (depth == 0) {
      at = instant
      emitted = false
    }
    depth += 1
  }

  /** Ends the innermost step. Only a step that emitted something takes a step number. */
  def end(): Unit = {
    depth -= 1
    if (depth == 0 && emitted) number += 1
  }

  /** Inserts the rows from `from` until `until`, for one of the [[ChangeReason]]s. */
  private[window] def insert(from: Long, until: Long, reason: Int): Unit =
    if (emitsInserts && from < until) change(ChangeKind.Insert, from, until, reason)

  /** Deletes the rows from `from` until `until`, for one of the [[ChangeReason]]s. */
  private[window] def delete(from: Long, until: Long, reason: Int): Unit =
    if (emitsDeletes && from < until) change(ChangeKind.Delete, from, until, reason)

  /** Deletes the rows from `from` until `until` because their whole group is removed, for one of
    * the [[ChangeReason]]s.
    */
  private[window] def deleteGroup(from: Long, until: Long, reason: Int): Unit =
    if (emitsDeletes && from < until) change(ChangeKind.GroupDelete, from, until, reason)

  /** Reports the rows from `from` until `until` as contents. The range may be empty, and the rows
    * stay in the window.
    */
  private[window] def report(kind: Int, from: Long, until: Long): Unit = {
    changes.add(kind, from, until, at, number, sequence, window)
    emitted = true
  }

  /** Emits a trigger without changes; the trigger alone does not give the step a number. */
  private[window] def emptyTrigger(): Unit =
    changes.add(ChangeKind.EmptyTrigger, 0L, 0L, at, number, sequence, window)

  /** Emits the rows from `from` until `until`, all or part of the window contents, as inserts.
    * These inserts count neither as changes nor as a step.
    */
  private[window] def content(from: Long, until: Long): Unit =
    if (from < until) changes.add(ChangeKind.Insert, from, until, at, number, sequence, window)

  /** Numbers steps that would only have reported the same contents. */
  private[window] def skip(steps: Long): Unit = number += steps

  /** Restarts the numbers of steps and changes at 0. */
  def clear(): Unit = {
    number = 0L
    sequence = 0L
    emitted = false
  }

  def save(out: ByteWriter): Unit = {
    out.number(number)
    out.number(sequence)
  }

  def restore(in: ByteReader): Unit = {
    number = in.number()
    sequence = in.number()
  }

  /** The way in which the rows of a group predict the numbers: [[Steps.Explicit]], if they do
    * not, or a number up to [[Steps.Kinds]]. Where each row enters once and rows leave oldest
    * first, the first and the last row tell how many changes there were.
    */
  private[window] def kind(rows: Rows): Int =
    if (sequence != rows.end + rows.first) Steps.Explicit
    else if (number == rows.end) Steps.ForEachRow
    else if (number == sequence) Steps.ForEachChange
    else Steps.Explicit

  /** Restores numbers that the rows predict. */
  private[window] def restore(kind: Int, rows: Rows): Unit = {
    sequence = rows.end + rows.first
    number = if (kind == Steps.ForEachRow) rows.end else sequence
  }

  private def change(kind: Int, from: Long, until: Long, reason: Int): Unit = {
    changes.add(kind, from, until, at, number, sequence, window, reason)
    sequence += until - from
    emitted = true
  }
}

private[window] object Steps {

  /** The numbers are stored. */
  val Explicit = 0

  /** Each step inserted one row; the rows that left did so in these steps. */
  val ForEachRow = 1

  /** Each step inserted or deleted one row. */
  val ForEachChange = 2

  /** The greatest kind. */
  val Kinds: Int = ForEachChange
}
