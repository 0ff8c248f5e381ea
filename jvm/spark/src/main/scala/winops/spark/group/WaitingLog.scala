package winops.spark.group

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.spark.plan.OperatorPlan
import winops.storage.bytes.{ByteReader, ByteWriter, Segments}
import winops.storage.rows.RowForm
import winops.window.time.Clock

/** The rows of a group that wait for the watermark.
  *
  * They are in one log, [[TimedRows]]. Many rows that arrive together are a [[RowSequence]], in
  * the order of their release, of which only the front is read when rows are released. Few rows
  * are appended to the [[UnsortedTail]] as they arrive. A release reads all of these, or those
  * that a [[ReleaseSchedule]] names. When the log has more than `mostUnsorted` of them, they are
  * written once more, as a sequence.
  *
  * Only the oldest rows of a log can be removed. A released row behind a waiting row stays in the
  * log, until the log has many more rows than wait; these are then merged into one sequence.
  *
  * @param segments
  *   stores the older rows of the log
  * @param form
  *   predicts the rows
  * @param mostUnsorted
  *   number of rows of the log, waiting or released, that may be unsorted
  * @param mostSequences
  *   number of sequences up to which a group's value has their places
  */
final class WaitingLog(
    plan: OperatorPlan,
    segments: Segments,
    form: RowForm = RowForm.Unknown,
    mostUnsorted: Int = WaitingLog.MostUnsorted,
    mostSequences: Int = WaitingLog.MostSequences) {
  import WaitingLog._

  private val rows = new TimedRows(plan, segments, form)
  private val layout = new WaitingLayout(rows, new ReleaseSchedule(segments))
  private val sequences = layout.sequences
  private val unsorted = layout.unsorted
  private val codec = new WaitingLogCodec(layout)
  private var count = 0L

  /** The number of waiting rows. */
  def size: Long = count

  /** The number of waiting rows that a sort may copy to the heap. */
  private[group] def unsortedRows: Long = unsorted.size

  /** The earliest time of a waiting row in microseconds, or the beginning of its millisecond;
    * `Long.MaxValue` if no row waits.
    */
  def firstTime: Long = layout.firstTime

  /** The greatest time of a waiting row in milliseconds; `Long.MinValue` if no row waits. */
  def lastTime: Long = {
    val last = sequences.iterator.map(_.end - 1) ++ unsorted.ordinals(firstTime)
    last.map(rows.timeAt).maxOption.fold(Long.MinValue)(Clock.floorToMillis)
  }

  /** The ordinals of the waiting rows. */
  def ordinals: Iterator[Long] = layout.ordinals

  /** Points `target` to a waiting row. It is valid until the next call of any method. */
  def pointTo(target: UnsafeRow, ordinal: Long): Unit = rows.pointTo(target, ordinal)

  /** Adds a row; `order` is the order in which rows are released. */
  def append(added: UnsafeRow, order: Ordering[InternalRow]): Unit = {
    if (count == 0) {
      layout.clear()
      rows.append(added)
      sequences += new RowSequence(rows.first, rows.end, rows.timeIn(added))
    } else if (layout.endsInSequence && rows.endBefore(added, order)) {
      rows.append(added)
      sequences.last.end = rows.end
    } else {
      if (layout.isUnsortedBetween) sortUnsorted(order)
      else if (layout.isInOrder && rows.size <= mostUnsorted) layout.dissolve()
      unsorted.append(added, order)
      if (unsorted.blockSize > mostUnsorted) sequences += unsorted.takeBlock()
    }
    count += 1
  }

  /** Returns the rows before a time, in the order of their release. The caller takes all of them
    * and calls [[WaitingRows.finish]] before any other method.
    *
    * @param before
    *   the time in microseconds; all rows are released if it is `Long.MaxValue`
    */
  def release(before: Long, order: Ordering[InternalRow]): WaitingRows = {
    unsorted.closeBlock()
    if (count == 0 || !WaitingRows.isDue(firstTime, before)) NoWaitingRows
    else {
      val due =
        if (layout.isInOrder) new RowsInOrder(rows, sequences.head, before)
        else MergedRows.of(layout, before, order)
      new Released(due, before, order)
    }
  }

  /** Writes rows once more if many are unsorted, if the log has many released rows, or if there
    * are many sequences. It has to follow rows that are appended, before [[save]].
    */
  def settle(order: Ordering[InternalRow]): Unit = {
    val areMany = !unsorted.isEmpty && rows.end - unsorted.from > mostUnsorted
    if (layout.isUnsortedBetween || areMany) {
      sortUnsorted(order)
      layout.releaseFront()
    }
    if (rows.size > MostPerWaiting * count + FewRows) merge(order, from = 0)
    else if (sequences.size > mostSequences) merge(order, from = firstOfSimilar)
  }

  /** The first of the newest sequences before which is one that is much longer. A row of that one
    * has been merged before, with many others, and is not written again for few.
    */
  private def firstOfSimilar: Int = {
    val newest = sequences.takeRight(mostSequences / ShareOfNewest)
    val longest = newest.iterator.map(_.size).max
    sequences.lastIndexWhere(_.size > MuchLonger * longest) + 1
  }

  def clear(): Unit = {
    rows.clear()
    layout.begin()
    count = 0
  }

  /** The form in which [[save]] writes the rows, a number from 0 to 6. */
  def kind: Int = codec.kind

  /** Writes the rows.
    *
    * @param clock
    *   the clock of the group in milliseconds, near the times of the rows
    */
  def save(out: ByteWriter, clock: Long): Unit = codec.save(out, clock)

  /** Restores the rows of a group with the kind and clock that they were written with. */
  def restore(in: ByteReader, kind: Int, clock: Long): Unit = {
    codec.restore(in, kind, clock)
    count = layout.size
  }

  /** Writes the unsorted rows that wait once more: as a sequence, or unsorted if few of them
    * wait.
    */
  private def sortUnsorted(order: Ordering[InternalRow]): Unit = {
    val (until, isLast, earliest) = (rows.end, !layout.isUnsortedBetween, unsorted.firstTime)
    val waiting = unsorted.sortedRows(firstTime, order)
    waiting.foreach(rows.append)
    unsorted.clear()
    if (isLast && waiting.length <= mostUnsorted / FewOfUnsorted) {
      unsorted.place(until, rows.end, waiting.length.toLong, earliest)
    } else {
      // The rows of a sequence that has been appended since arrived later.
      val place = if (isLast) sequences.size else sequences.size - 1
      sequences.insert(place, new RowSequence(until, rows.end, earliest))
    }
  }

  /** Merges the unsorted rows and the sequences from the given one on, which arrived last, into
    * one sequence behind the log.
    */
  private def merge(order: Ordering[InternalRow], from: Int): Unit = if (count > 0) {
    val (start, earliest) = (rows.end, layout.firstTimeFrom(from))
    val merged = MergedRows.of(layout, WaitingRows.Never, order, from)
    while (merged.first != null) {
      rows.append(merged.first)
      merged.take()
    }
    sequences.takeInPlace(from)
    unsorted.clear()
    sequences += new RowSequence(start, rows.end, earliest)
    layout.releaseFront()
  }

  /** Counts the rows that are taken, and removes them when all have been. */
  private final class Released(due: WaitingRows, before: Long, order: Ordering[InternalRow])
      extends WaitingRows {
    override def first: UnsafeRow = due.first

    override def take(): Unit = {
      due.take()
      count -= 1
    }

    override def finish(): Unit = {
      due.finish()
      sequences.filterInPlace(_.size > 0)
      // Stored times, which are milliseconds, would not tell released rows of the same millisecond
      // as one that stays.
      val isWithinMilli = before % Clock.MicrosPerMilli != 0
      if (isWithinMilli && unsorted.hasReleased) sortUnsorted(order)
      layout.releaseFront()
      if (count == 0) layout.clear()
    }
  }
}

private object WaitingLog {

  /** Rows of groups with few rows in a micro-batch are released by reading at most so many. */
  val MostUnsorted = 512

  /** If at most one in so many unsorted rows waits, the others have been released, and a sequence
    * would be short.
    */
  val FewOfUnsorted = 4

  val MostSequences = 1024

  /** One in so many sequences at least is merged, if they are too many. */
  val ShareOfNewest = 4
  val MuchLonger = 4L

  /** The log has at most so many rows for each waiting row, and some more. */
  val MostPerWaiting = 4L
  val FewRows = 64L
}
