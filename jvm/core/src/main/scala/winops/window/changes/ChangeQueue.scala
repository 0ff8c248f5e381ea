package winops.window.changes

import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.storage.rows.Rows
import winops.terms.Stream

/** Numbers the steps of machines and their changes, and queues the changes, first in, first out,
  * until the operator reads them.
  *
  * The steps are those of one group or, for cross-group policies, of all groups. A step may span
  * several groups: calls of [[beginStep]] and [[endStep]] nest, and the outermost pair bounds the
  * step.
  *
  * Consecutive rows with the same kind of change and reason in the same step share one entry. The
  * reader calls [[next]] and then reads the fields. [[next]] moves through changes row by row,
  * and through reported contents entry by entry.
  *
  * @param stream
  *   the stream of changes, which says if inserts and deletes are emitted
  * @param ignoresReports
  *   true if the reader of the changes skips reports and empty triggers
  */
final class ChangeQueue(stream: Stream, private[window] val ignoresReports: Boolean = false) {
  import ChangeQueue._

  private val emitsInserts = stream.inserts
  private val emitsDeletes = stream.deletes

  // The step that is being written.
  private var now = Long.MinValue
  private var steps = 0L
  private var changes = 0L
  private var emitted = false
  private var depth = 0
  private var silent = 0L
  private var moved = 0L
  private var writing = 0L

  private var entries = new Array[Long](Fields * 16)
  private var head = 0
  private var tail = 0

  // The entry that has been read.
  private var entryKind = 0
  private var entryReason = 0
  private var entryWindow = 0
  private var row = 0L
  private var reportEnd = 0L
  private var instant = 0L
  private var stepNumber = 0L
  private var sequenceNumber = 0L

  /** Number of rows that all machines with this queue evicted without a delete. */
  def rowsEvictedSilently: Long = silent

  /** Counts rows that were evicted without a delete. */
  private[window] def evictSilently(rows: Long): Unit = {
    silent += rows
    moved += rows
  }

  /** Number of rows that entered or left windows with this queue, whether or not it is emitted.
    */
  def rowsMoved: Long = moved

  /** Writes the changes of the independent window with this number from now on. */
  private[window] def writeWindow(number: Int): Unit = writing = number.toLong << WindowShift

  /** The instant of the step that was begun last, in milliseconds. */
  def stepAt: Long = now

  /** Begins a step at an instant, in milliseconds, or a nested part of the current step. */
  private[window] def beginStep(instant: Long): Unit = {
    if (depth == 0) {
      now = instant
      emitted = false
    }
    depth += 1
  }

  /** Ends the innermost step. Only a step that emitted something takes a step number. */
  private[window] def endStep(): Unit = {
    depth -= 1
    if (depth == 0 && emitted) steps += 1
  }

  /** Inserts the rows from `from` until `until`, for one of the [[ChangeReason]]s. */
  private[window] def insert(from: Long, until: Long, reason: Int): Unit = {
    moved += until - from
    if (emitsInserts && from < until) change(ChangeKind.Insert, from, until, reason)
  }

  /** Deletes the rows from `from` until `until`, for one of the [[ChangeReason]]s. */
  private[window] def delete(from: Long, until: Long, reason: Int): Unit = {
    moved += until - from
    if (emitsDeletes && from < until) change(ChangeKind.Delete, from, until, reason)
  }

  /** Updates a row. Until the reader has moved to the second of the two entries, the row has its
    * former values.
    */
  private[window] def update(row: Long): Unit = {
    if (emitsDeletes) change(ChangeKind.UpdateBefore, row, row + 1, ChangeReason.Updated)
    if (emitsInserts) change(ChangeKind.UpdateAfter, row, row + 1, ChangeReason.Updated)
  }

  /** Sets what gives an updated row its new values. It may be called more than once. */
  private[window] def onUpdateRead(apply: () => Unit): Unit = applyUpdate = apply

  private var applyUpdate: () => Unit = () => ()

  /** Deletes the rows from `from` until `until` because their whole group is removed, for one of
    * the [[ChangeReason]]s.
    */
  private[window] def deleteGroup(from: Long, until: Long, reason: Int): Unit = {
    moved += until - from
    if (emitsDeletes && from < until) change(ChangeKind.GroupDelete, from, until, reason)
  }

  /** Reports the rows from `from` until `until` as contents. The range may be empty, and the rows
    * stay in the window.
    */
  private[window] def report(kind: Int, from: Long, until: Long): Unit = {
    add(kind, from, until)
    emitted = true
  }

  /** Emits a trigger without changes; the trigger alone does not give the step a number. */
  private[window] def emptyTrigger(): Unit = add(ChangeKind.EmptyTrigger, 0L, 0L)

  /** Emits the rows from `from` until `until`, all or part of the window contents, as inserts.
    * These inserts count neither as changes nor as a step.
    */
  private[window] def content(from: Long, until: Long): Unit =
    if (from < until) add(ChangeKind.Insert, from, until)

  /** Numbers steps that would only have reported the same contents. */
  private[window] def skipSteps(number: Long): Unit = steps += number

  /** Restarts the numbers of steps and changes at 0. */
  private[window] def restartNumbers(): Unit = {
    steps = 0L
    changes = 0L
    emitted = false
  }

  /** Stores the numbers of steps and changes; queued changes are not stored. */
  def save(out: ByteWriter): Unit = {
    out.number(steps)
    out.number(changes)
  }

  def restore(in: ByteReader): Unit = {
    steps = in.number()
    changes = in.number()
  }

  /** The way in which the rows of a group predict the numbers: [[ChangeQueue.Explicit]], if they
    * do not, or a number up to [[ChangeQueue.Numberings]]. Where each row enters once and rows
    * leave oldest first, the first and the last row tell how many changes there were.
    */
  private[window] def numbering(rows: Rows): Int =
    if (changes != rows.end + rows.first) Explicit
    else if (steps == rows.end) ForEachRow
    else if (steps == changes) ForEachChange
    else Explicit

  /** Restores numbers that the rows predict. */
  private[window] def restore(numbering: Int, rows: Rows): Unit = {
    changes = rows.end + rows.first
    steps = if (numbering == ForEachRow) rows.end else changes
  }

  def isEmpty: Boolean = head == tail

  /** Drops the changes that have not been read. */
  def clear(): Unit = {
    head = 0
    tail = 0
  }

  /** The kind of the entry that [[next]] moves to; the queue must not be empty. */
  def nextKind: Int = (entries(head) & KindMask).toInt

  /** Reads the next entry as a whole: its rows go from [[ordinal]] until [[end]]. */
  def nextEntry(): Unit = {
    val after = head + Fields
    load()
    head = after
    if (head == tail) clear()
  }

  /** Moves to the next changed row or reported contents; the queue must not be empty. */
  def next(): Unit = {
    load()
    if (row + 1 == reportEnd || !ChangeKind.isChange(entryKind)) {
      head += Fields
      if (head == tail) clear()
    } else {
      entries(head + 1) = row + 1
      entries(head + 5) = sequenceNumber + 1
    }
  }

  /** One of [[ChangeKind]]. */
  def kind: Int = entryKind

  /** Returns true if the row was inserted, false for every other kind of entry. */
  def isInsert: Boolean = entryKind == ChangeKind.Insert

  /** One of [[ChangeReason]]; has a meaning for inserts and deletes only. */
  def reason: Int = entryReason

  /** The number of the window that emitted the change; 0 if there is only one window. */
  def window: Int = entryWindow

  /** The row's ordinal in its group, or the ordinal of the first row of reported contents or of
    * an entry read with [[nextEntry]].
    */
  def ordinal: Long = row

  /** The ordinal after the last row of reported contents or of an entry read with [[nextEntry]].
    */
  def end: Long = reportEnd

  /** The instant of the step, in milliseconds. */
  def at: Long = instant

  /** The number of the step among the group's steps, from 0. */
  def step: Long = stepNumber

  /** The number of the change among the group's changes, from 0. */
  def sequence: Long = sequenceNumber

  private def load(): Unit = {
    entryKind = nextKind
    entryReason = (entries(head) >>> KindBits & KindMask).toInt
    entryWindow = (entries(head) >>> WindowShift).toInt
    row = entries(head + 1)
    reportEnd = entries(head + 2)
    instant = entries(head + 3)
    stepNumber = entries(head + 4)
    sequenceNumber = entries(head + 5)
    if (entryKind == ChangeKind.UpdateAfter) applyUpdate()
  }

  private def change(kind: Int, from: Long, until: Long, reason: Int): Unit = {
    add(kind, from, until, reason)
    changes += until - from
    emitted = true
  }

  /** Adds the rows from `from` until `until`, as one of [[ChangeKind]] for one of
    * [[ChangeReason]], with the numbers of the current step and of the next change.
    */
  private def add(
      kind: Int,
      from: Long,
      until: Long,
      reason: Int = ChangeReason.Arrived): Unit = {
    val what = kind.toLong | reason.toLong << KindBits | writing
    if (continuesLast(what, kind, from)) entries(tail - Fields + 2) = until
    else {
      if (tail == entries.length) makeRoom()
      entries(tail) = what
      entries(tail + 1) = from
      entries(tail + 2) = until
      entries(tail + 3) = now
      entries(tail + 4) = steps
      entries(tail + 5) = changes
      tail += Fields
    }
  }

  private def continuesLast(what: Long, kind: Int, from: Long): Boolean = {
    val last = tail - Fields
    last >= head && entries(last + 2) == from && entries(last) == what &&
    entries(last + 4) == steps && ChangeKind.isChange(kind)
  }

  private def makeRoom(): Unit =
    if (head > entries.length / 2) {
      System.arraycopy(entries, head, entries, 0, tail - head)
      tail -= head
      head = 0
    } else entries = java.util.Arrays.copyOf(entries, entries.length * 2)
}

object ChangeQueue {

  /** The numbers of steps and changes are stored. */
  private[window] val Explicit = 0

  /** Each step inserted one row; the rows that left did so in these steps. */
  private[window] val ForEachRow = 1

  /** Each step inserted or deleted one row. */
  private[window] val ForEachChange = 2

  /** The greatest numbering. */
  private[window] val Numberings: Int = ForEachChange

  private val Fields = 6

  /** Number of bits of the kind, and of the reason above it. The same field holds the window's
    * number above both.
    */
  private val KindBits = 8
  private val WindowShift = 2 * KindBits
  private val KindMask = (1L << KindBits) - 1
}
