package winops.spark.group

import java.util.concurrent.TimeUnit

import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}
import winops.window.time.Clock

/** Writes the waiting rows of a group to its value, and reads them.
  *
  * A log with rows that wait is stored first, then what says which of them wait. Times are stored
  * in milliseconds: no released row in the range of the unsorted ones is of the same millisecond
  * as a row that waits.
  *
  * @param layout
  *   the places of the rows
  */
private[group] final class WaitingLogCodec(layout: WaitingLayout) {
  import WaitingLogCodec._

  private val rows = layout.rows
  private val unsorted = layout.unsorted
  private val sequences = layout.sequences

  private def firstMillis: Long = Clock.floorToMillis(unsorted.firstTime)

  /** The form in which [[save]] writes the rows, a number from 0 to 6. */
  def kind: Int =
    if (layout.size == 0) NoRows
    else if (layout.isInOrder) RowsInOrder
    else if (sequences.nonEmpty || unsorted.from > rows.first) {
      if (unsorted.schedule.isActive) ScheduledSequences else Sequences
    } else if (unsorted.schedule.isActive) Scheduled
    else if (rows.size == unsorted.size) Rows
    else SomeReleased

  /** Writes the rows.
    *
    * @param clock
    *   the clock of the group in milliseconds, near the times of the rows
    */
  def save(out: ByteWriter, clock: Long): Unit = {
    def time(micros: Long): Unit = out.number(Clock.floorToMillis(micros) - clock)
    val written = kind
    require(!layout.isUnsortedBetween, "the waiting rows have not been settled")
    if (written == NoRows) rows.discard()
    else {
      if (hasReleased(written)) out.number(rows.size - unsorted.size)
      rows.save(out)
      if (hasSequences(written)) saveSequences(out, time)
      // In order, the first row has the time, if that row is in the group's own value.
      else if (written != RowsInOrder || !rows.isFirstOpen) time(layout.firstTime)
      if (unsorted.schedule.isActive) unsorted.schedule.save(out, firstMillis)
    }
  }

  private def saveSequences(out: ByteWriter, time: Long => Unit): Unit = {
    out.number(unsorted.size)
    if (!unsorted.isEmpty) {
      out.number(rows.end - unsorted.from)
      time(unsorted.firstTime)
    }
    out.number(sequences.size.toLong)
    var at = rows.first
    sequences.foreach { one =>
      out.number(one.head - at)
      out.number(one.size)
      time(one.next)
      at = one.end
    }
  }

  /** Replaces the rows by those of a group that [[save]] wrote with this kind and clock.
    *
    * @throws winops.storage.bytes.CorruptStateException
    *   if the rows cannot be where the bytes say
    */
  def restore(in: ByteReader, kind: Int, clock: Long): Unit = {
    layout.begin()
    if (kind == NoRows) rows.clear()
    else {
      val released = if (hasReleased(kind)) in.count(Long.MaxValue) else 0L
      rows.restore(in)
      if (rows.size - released <= 0 || kind < NoRows || kind > ScheduledSequences) {
        throw new CorruptStateException(s"$released of ${rows.size} rows wait no more")
      }
      def time(): Long = TimeUnit.MILLISECONDS.toMicros(clock + in.number())
      if (hasSequences(kind)) restoreSequences(in, () => time())
      else if (kind == RowsInOrder) {
        val earliest = if (rows.isFirstOpen) rows.timeAt(rows.first) else time()
        sequences += new RowSequence(rows.first, rows.end, earliest)
      } else unsorted.place(rows.first, rows.end, rows.size - released, time())
      if (kind == Scheduled || kind == ScheduledSequences) {
        if (unsorted.isEmpty) throw new CorruptStateException("no unsorted row is scheduled")
        unsorted.schedule.restore(in, firstMillis)
      }
    }
    unsorted.closeBlock()
  }

  private def restoreSequences(in: ByteReader, time: () => Long): Unit = {
    val waiting = in.count(rows.size)
    if (waiting == 0) unsorted.clear()
    else unsorted.place(rows.end - in.count(rows.size), rows.end, waiting, time())
    var at = rows.first
    (0 until in.count(in.remaining.toLong).toInt).foreach { _ =>
      val head = at + in.number()
      val end = head + in.count(rows.size)
      if (head < rows.first || end <= head || end > unsorted.from) {
        throw new CorruptStateException(s"waiting rows from $head until $end")
      }
      sequences += new RowSequence(head, end, time())
      at = end
    }
    val all = layout.size
    if (all == 0 || all > rows.size || waiting > rows.end - unsorted.from) {
      throw new CorruptStateException(s"$all of ${rows.size} rows wait, $waiting unsorted")
    }
  }
}

private[group] object WaitingLogCodec {

  /** No row waits, and nothing is stored. */
  val NoRows = 0

  /** The log, of which all rows wait unsorted, and the earliest time. */
  val Rows = 1

  /** The log, which is one sequence, and its first time if the first row is in a run. */
  val RowsInOrder = 2

  /** The number of released rows, and a log of which the other rows wait unsorted; then as
    * [[Rows]].
    */
  val SomeReleased = 3

  /** The log; the number, range and earliest time of unsorted rows; places and times of
    * sequences.
    */
  val Sequences = 4

  /** The form of [[SomeReleased]], then what is stored of the [[ReleaseSchedule]] of the unsorted
    * rows.
    */
  val Scheduled = 5

  /** The form of [[Sequences]], then the same. */
  val ScheduledSequences = 6

  private def hasReleased(kind: Int): Boolean = kind == SomeReleased || kind == Scheduled

  private def hasSequences(kind: Int): Boolean =
    kind == Sequences || kind == ScheduledSequences
}
