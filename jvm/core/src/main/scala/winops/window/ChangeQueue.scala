package winops.window

/** The changes that a machine has made and nobody has read yet, first in, first out.
  *
  * A deletion of consecutive rows is one entry however many rows it removes. Reading gives one
  * row at a time: [[next]], then the fields of the change.
  */
final class ChangeQueue {
  import ChangeQueue._

  private var entries = new Array[Long](Fields * 16)
  private var head = 0
  private var tail = 0

  private var inserted = false
  private var row = 0L
  private var instant = 0L
  private var stepNumber = 0L
  private var sequenceNumber = 0L

  def isEmpty: Boolean = head == tail

  def clear(): Unit = {
    head = 0
    tail = 0
  }

  /** Adds the rows from `from` until `until`, of which the first has sequence number `sequence`.
    */
  def add(
      isInsert: Boolean,
      from: Long,
      until: Long,
      at: Long,
      step: Long,
      sequence: Long): Unit = {
    if (tail == entries.length) makeRoom()
    entries(tail) = if (isInsert) 1L else 0L
    entries(tail + 1) = from
    entries(tail + 2) = until
    entries(tail + 3) = at
    entries(tail + 4) = step
    entries(tail + 5) = sequence
    tail += Fields
  }

  /** Moves to the next changed row; the queue must not be empty. */
  def next(): Unit = {
    inserted = entries(head) == 1L
    row = entries(head + 1)
    instant = entries(head + 3)
    stepNumber = entries(head + 4)
    sequenceNumber = entries(head + 5)
    if (row + 1 == entries(head + 2)) {
      head += Fields
      if (head == tail) clear()
    } else {
      entries(head + 1) = row + 1
      entries(head + 5) = sequenceNumber + 1
    }
  }

  /** Whether the row came in; otherwise it left. */
  def isInsert: Boolean = inserted

  /** The row's ordinal in its group. */
  def ordinal: Long = row

  /** When the step happened, in milliseconds. */
  def at: Long = instant

  /** The number of the step among the group's steps, from 0. */
  def step: Long = stepNumber

  /** The number of the change among the group's changes, from 0. */
  def sequence: Long = sequenceNumber

  private def makeRoom(): Unit =
    if (head > entries.length / 2) {
      System.arraycopy(entries, head, entries, 0, tail - head)
      tail -= head
      head = 0
    } else entries = java.util.Arrays.copyOf(entries, entries.length * 2)
}

object ChangeQueue {
  private val Fields = 6
}
