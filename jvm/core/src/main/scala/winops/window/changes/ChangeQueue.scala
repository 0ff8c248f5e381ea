package winops.window.changes

/** Changes that a machine has emitted and that nobody has read yet, first in, first out.
  *
  * Consecutive rows that share a fate are one entry however many they are. Reading gives a change
  * of one row at a time, and a report of a content as a whole: [[next]], then the fields.
  */
final class ChangeQueue {
  import ChangeQueue._

  private var entries = new Array[Long](Fields * 16)
  private var head = 0
  private var tail = 0

  private var entryKind = 0
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

  /** Adds the rows from `from` until `until`, of which the first has sequence number `sequence`.
    *
    * @param window
    *   the number of the window, of several independent ones
    */
  def add(
      kind: Int,
      from: Long,
      until: Long,
      at: Long,
      step: Long,
      sequence: Long,
      window: Int = 0): Unit = {
    val what = kind.toLong | window.toLong << KindBits
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

  /** The kind of what [[next]] moves to; the queue must not be empty. */
  def nextKind: Int = (entries(head) & KindMask).toInt

  /** Moves past the next entry as a whole, which then is that of [[ordinal]] until [[end]]. */
  def nextEntry(): Unit = {
    val after = head + Fields
    load()
    head = after
    if (head == tail) clear()
  }

  /** Moves to the next changed row, or the next report; the queue must not be empty. */
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

  /** Returns true if the row was inserted; otherwise it was deleted, or the entry is a report. */
  def isInsert: Boolean = entryKind == ChangeKind.Insert

  /** The number of the window whose rows they are; 0 if there is only one. */
  def window: Int = entryWindow

  /** The row's ordinal in its group; of a report or an entry, its first row's. */
  def ordinal: Long = row

  /** Of a report or an entry, the ordinal after its last row's. */
  def end: Long = reportEnd

  /** When the step happened, in milliseconds. */
  def at: Long = instant

  /** The number of the step among the group's steps, from 0. */
  def step: Long = stepNumber

  /** The number of the change among the group's changes, from 0. */
  def sequence: Long = sequenceNumber

  private def load(): Unit = {
    entryKind = nextKind
    entryWindow = (entries(head) >>> KindBits).toInt
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

  /** A kind and, above these bits, the number of a window are one field. */
  private val KindBits = 8
  private val KindMask = (1L << KindBits) - 1
}
