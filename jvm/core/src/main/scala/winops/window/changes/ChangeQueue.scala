package winops.window.changes

/** A first-in, first-out queue of changes that a machine has emitted and the operator has not
  * read.
  *
  * Consecutive rows with the same kind of change and reason in the same step share one entry. The
  * reader calls [[next]] and then reads the fields. [[next]] moves through changes row by row,
  * and through reported contents entry by entry.
  */
final class ChangeQueue {
  import ChangeQueue._

  private var entries = new Array[Long](Fields * 16)
  private var head = 0
  private var tail = 0

  private var entryKind = 0
  private var entryReason = 0
  private var entryWindow = 0
  private var row = 0L
  private var reportEnd = 0L
  private var instant = 0L
  private var stepNumber = 0L
  private var sequenceNumber = 0L

  def isEmpty: Boolean = head == tail

  def clear(): Unit = {
    head = 0
    tail = 0
  }

  /** Adds the rows from `from` until `until`; the first of them has sequence number `sequence`.
    *
    * @param kind
    *   one of [[ChangeKind]]
    * @param at
    *   the instant of the step, in milliseconds
    * @param step
    *   the number of the step
    * @param window
    *   the number of the window, if there are several independent windows
    * @param reason
    *   one of [[ChangeReason]], of inserts and deletes
    */
  def add(
      kind: Int,
      from: Long,
      until: Long,
      at: Long,
      step: Long,
      sequence: Long,
      window: Int = 0,
      reason: Int = ChangeReason.Arrived): Unit = {
    val what = kind.toLong | reason.toLong << KindBits | window.toLong << WindowShift
    if (continuesLast(what, kind, from, step)) entries(tail - Fields + 2) = until
    else {
      if (tail == entries.length) makeRoom()
      entries(tail) = what
      entries(tail + 1) = from
      entries(tail + 2) = until
      entries(tail + 3) = at
      entries(tail + 4) = step
      entries(tail + 5) = sequence
      tail += Fields
    }
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
  }

  private def continuesLast(what: Long, kind: Int, from: Long, step: Long): Boolean = {
    val last = tail - Fields
    last >= head && entries(last + 2) == from && entries(last) == what &&
    entries(last + 4) == step && ChangeKind.isChange(kind)
  }

  private def makeRoom(): Unit =
    if (head > entries.length / 2) {
      System.arraycopy(entries, head, entries, 0, tail - head)
      tail -= head
      head = 0
    } else entries = java.util.Arrays.copyOf(entries, entries.length * 2)
}

object ChangeQueue {
  private val Fields = 6

  /** Number of bits of the kind, and of the reason above it. The same field holds the window's
    * number above both.
    */
  private val KindBits = 8
  private val WindowShift = 2 * KindBits
  private val KindMask = (1L << KindBits) - 1
}
