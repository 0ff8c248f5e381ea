package winops.spark.group

import java.util.concurrent.TimeUnit

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.spark.plan.OperatorPlan
import winops.spark.row.{RowBytes, RowShape}
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException, Segments}
import winops.storage.rows.{RowForm, RowLog}
import winops.window.time.Clock

/** The rows of a group that wait for the watermark.
  *
  * They are in one [[RowLog]]. Many rows that arrive together are a [[Sequence]], in the order of
  * their release, of which only the front is read when rows are released. Few rows are appended
  * as they arrive, and all of these unsorted rows are read at each release. When the log has more
  * than `mostUnsorted` of them, they are written once more, as a sequence.
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

  private val log =
    new RowLog(segments, withArrival = false, RowShape.of(plan.waitingColumns), form, LongestRun)
  private val row = new UnsafeRow(plan.waitingColumns.size)
  private val timeOrdinal = plan.timeOrdinal
  private var count = 0L
  private var first = Never

  /** The sequences, in the order in which their rows arrived. */
  private val sequences = mutable.ArrayBuffer.empty[Sequence]

  // The unsorted rows arrived after those of all sequences but one that is being appended. They
  // are some of the rows in this range; rows before `first` have been released.
  private var unsortedFrom = 0L
  private var unsortedEnd = 0L
  private var unsorted = 0L
  private var unsortedFirst = Never

  // The newest unsorted rows that are in order, and the first time of those before them.
  private var blockFrom = 0L
  private var firstBeforeBlock = Never

  /** The number of waiting rows. */
  def size: Long = count

  /** The earliest time of a waiting row in microseconds, or the beginning of its millisecond;
    * `Long.MaxValue` if no row waits.
    */
  def firstTime: Long = first

  /** The greatest time of a waiting row in milliseconds; `Long.MinValue` if no row waits. */
  def lastTime: Long = {
    val last = sequences.iterator.map(_.end - 1) ++ unsortedOrdinals
    last.map(timeOf).maxOption.fold(Long.MinValue)(Clock.floorToMillis)
  }

  /** The ordinals of the waiting rows. */
  def ordinals: Iterator[Long] =
    sequences.iterator.flatMap(one => range(one.head, one.end)) ++ unsortedOrdinals

  /** Points `target` to a waiting row. It is valid until the next call of any method. */
  def pointTo(target: UnsafeRow, ordinal: Long): Unit = RowBytes.pointTo(target, log, ordinal)

  /** Adds a row; `order` is the order in which rows are released. */
  def append(added: UnsafeRow, order: Ordering[InternalRow]): Unit = {
    val time = timeIn(added)
    if (count == 0) {
      reset()
      store(added)
      sequences += new Sequence(log.first, log.end, time)
    } else if (sequences.lastOption.exists(_.end == log.end) && follows(added, order)) {
      store(added)
      sequences.last.end = log.end
    } else {
      if (unsorted > 0 && unsortedEnd < log.end) sortUnsorted(order)
      else if (isInOrder && log.size <= mostUnsorted) dissolve()
      appendUnsorted(added, time, order)
      if (log.end - blockFrom > mostUnsorted) makeSequenceOfBlock()
    }
    first = Math.min(first, time)
  }

  private def appendUnsorted(added: UnsafeRow, time: Long, order: Ordering[InternalRow]): Unit = {
    if (unsorted == 0) noneUnsorted()
    if (blockFrom == log.end || !follows(added, order)) {
      blockFrom = log.end
      firstBeforeBlock = unsortedFirst
    }
    store(added)
    unsorted += 1
    unsortedEnd = log.end
    unsortedFirst = Math.min(unsortedFirst, time)
  }

  /** True if a row is not released before the newest row of the log. */
  private def follows(added: UnsafeRow, order: Ordering[InternalRow]): Boolean = {
    pointTo(row, log.end - 1)
    order.compare(row, added) <= 0
  }

  /** Lets the only sequence be unsorted rows. */
  private def dissolve(): Unit = {
    unsortedFrom = log.first
    unsortedEnd = log.end
    unsorted = count
    unsortedFirst = sequences.head.next
    blockFrom = log.end
    sequences.clear()
  }

  private def makeSequenceOfBlock(): Unit = {
    sequences += new Sequence(blockFrom, log.end, timeOf(blockFrom))
    unsorted -= log.end - blockFrom
    unsortedEnd = blockFrom
    unsortedFirst = firstBeforeBlock
  }

  /** Returns the rows before a time, in the order of their release. The caller takes all of them
    * and calls [[WaitingRows.finish]] before any other method.
    *
    * @param before
    *   the time in microseconds; all rows are released if it is `Long.MaxValue`
    */
  def release(before: Long, order: Ordering[InternalRow]): WaitingRows = {
    // Rows that are appended from here on arrived later.
    blockFrom = log.end
    if (count == 0 || !isDue(first, before)) NoWaitingRows
    else if (isInOrder) new InOrder(before)
    else new Merged(before, order)
  }

  /** Writes rows once more if many are unsorted, if the log has many released rows, or if there
    * are many sequences. It has to follow rows that are appended, before [[save]].
    */
  def settle(order: Ordering[InternalRow]): Unit = {
    if (unsorted > 0 && (unsortedEnd < log.end || log.end - unsortedFrom > mostUnsorted)) {
      sortUnsorted(order)
      releaseFront()
    }
    if (log.size > MostPerWaiting * count + FewRows) merge(order, from = 0)
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
    log.clear()
    reset()
  }

  /** The form in which [[save]] writes the rows, a number from 0 to 4. */
  def kind: Int =
    if (count == 0) NoRows
    else if (isInOrder) RowsInOrder
    else if (sequences.nonEmpty || unsortedFrom > log.first) Sequences
    else if (log.size == count) Rows
    else SomeReleased

  /** Writes the rows.
    *
    * @param clock
    *   the clock of the group in milliseconds, near the times of the rows
    */
  def save(out: ByteWriter, clock: Long): Unit = {
    def time(micros: Long): Unit = out.number(Clock.floorToMillis(micros) - clock)
    val written = kind
    require(unsorted == 0 || unsortedEnd == log.end, "the waiting rows have not been settled")
    if (written == NoRows) log.discard()
    else {
      if (written == SomeReleased) out.number(log.size - count)
      log.save(out)
      // Rows are released up to whole milliseconds.
      if (written != Sequences) {
        // In order, the first row has it, if that row is in the group's own value.
        if (written != RowsInOrder || !log.isOpen(log.first)) time(first)
      } else {
        out.number(unsorted)
        if (unsorted > 0) {
          out.number(log.end - unsortedFrom)
          time(unsortedFirst)
        }
        out.number(sequences.size.toLong)
        var at = log.first
        sequences.foreach { one =>
          out.number(one.head - at)
          out.number(one.size)
          time(one.next)
          at = one.end
        }
      }
    }
  }

  /** Restores the rows of a group with the kind and clock that they were written with. */
  def restore(in: ByteReader, kind: Int, clock: Long): Unit = {
    reset()
    if (kind == NoRows) log.clear()
    else {
      val released = if (kind == SomeReleased) in.count(Long.MaxValue) else 0L
      log.restore(in)
      if (log.size - released <= 0 || kind < NoRows || kind > Sequences) {
        throw new CorruptStateException(s"$released of ${log.size} rows wait no more")
      }
      def time(): Long = TimeUnit.MILLISECONDS.toMicros(clock + in.number())
      if (kind == Sequences) restoreSequences(in, () => time())
      else {
        val inOrder = kind == RowsInOrder
        val earliest = if (inOrder && log.isOpen(log.first)) timeOf(log.first) else time()
        begin(log.size - released, inOrder, earliest)
      }
    }
    blockFrom = log.end
  }

  private def restoreSequences(in: ByteReader, time: () => Long): Unit = {
    unsortedEnd = log.end
    unsorted = in.count(log.size)
    unsortedFrom = log.end
    if (unsorted > 0) {
      unsortedFrom = log.end - in.count(log.size)
      unsortedFirst = time()
    }
    var at = log.first
    (0 until in.count(in.remaining.toLong).toInt).foreach { _ =>
      val head = at + in.number()
      val end = head + in.count(log.size)
      if (head < log.first || end <= head || end > unsortedFrom) {
        throw new CorruptStateException(s"waiting rows from $head until $end")
      }
      sequences += new Sequence(head, end, time())
      at = end
    }
    count = unsorted + sequences.iterator.map(_.size).sum
    first = Math.min(unsortedFirst, sequences.iterator.map(_.next).minOption.getOrElse(Never))
    if (count == 0 || count > log.size || unsorted > log.end - unsortedFrom) {
      throw new CorruptStateException(s"$count of ${log.size} rows wait, $unsorted unsorted")
    }
  }

  /** Starts with the rows of the log as one sequence, or unsorted. */
  private def begin(waiting: Long, inOrder: Boolean, earliest: Long): Unit = {
    count = waiting
    first = earliest
    if (inOrder) sequences += new Sequence(log.first, log.end, earliest)
    else {
      unsortedFrom = log.first
      unsortedEnd = log.end
      unsorted = waiting
      unsortedFirst = earliest
    }
  }

  private def reset(): Unit = {
    count = 0L
    first = Never
    sequences.clear()
    noneUnsorted()
  }

  private def noneUnsorted(): Unit = {
    unsorted = 0L
    unsortedFrom = log.end
    unsortedEnd = log.end
    unsortedFirst = Never
    blockFrom = log.end
    firstBeforeBlock = Never
  }

  /** True if the log is one sequence. */
  private def isInOrder: Boolean =
    sequences.size == 1 && unsorted == 0 &&
      sequences.head.head == log.first && sequences.head.end == log.end

  private def store(added: UnsafeRow): Unit = {
    RowBytes.append(log, 0L, added)
    count += 1
  }

  private def unsortedOrdinals: Iterator[Long] =
    if (unsorted == 0) Iterator.empty
    else range(unsortedFrom, unsortedEnd).filter(timeOf(_) >= first)

  private def range(from: Long, until: Long): Iterator[Long] =
    Iterator.iterate(from)(_ + 1).takeWhile(_ < until)

  private def timeOf(ordinal: Long): Long = {
    pointTo(row, ordinal)
    timeIn(row)
  }

  private def timeIn(row: UnsafeRow): Long = row.getLong(timeOrdinal)

  /** Writes the unsorted rows that wait once more: as a sequence, or unsorted if few of them
    * wait.
    */
  private def sortUnsorted(order: Ordering[InternalRow]): Unit = {
    val (until, isLast) = (log.end, unsortedEnd == log.end)
    val earliest = unsortedFirst
    val rows = mutable.ArrayBuffer.empty[UnsafeRow]
    unsortedOrdinals.foreach { ordinal =>
      pointTo(row, ordinal)
      rows += row.copy()
    }
    sorted(rows, order).foreach(RowBytes.append(log, 0L, _))
    noneUnsorted()
    if (isLast && rows.size <= mostUnsorted / FewOfUnsorted) {
      unsortedFrom = until
      unsorted = rows.size.toLong
      unsortedFirst = earliest
    } else {
      // The rows of a sequence that has been appended since arrived later.
      val place = if (isLast) sequences.size else sequences.size - 1
      sequences.insert(place, new Sequence(until, log.end, earliest))
    }
  }

  /** Removes the rows before all that wait. */
  private def releaseFront(): Unit = {
    val heads = sequences.iterator.map(_.head) ++ Option.when(unsorted > 0)(unsortedFrom)
    log.release(heads.minOption.getOrElse(log.end))
  }

  /** Merges the unsorted rows and the sequences from the given one on, which arrived last, into
    * one sequence behind the log.
    */
  private def merge(order: Ordering[InternalRow], from: Int): Unit = if (count > 0) {
    val start = log.end
    val earliest = (sequences.iterator.drop(from).map(_.next) ++ Iterator(unsortedFirst)).min
    val merged = new Merge(Never, order, from)
    while (merged.first != null) {
      RowBytes.append(log, 0L, merged.first)
      merged.take()
    }
    sequences.takeInPlace(from)
    noneUnsorted()
    sequences += new Sequence(start, log.end, earliest)
    releaseFront()
  }

  /** Removes the rows from the front of the log, which is in order. */
  private final class InOrder(before: Long) extends WaitingRows {
    private var taken = log.first

    override def first: UnsafeRow =
      if (taken == log.end) null
      else {
        pointTo(row, taken)
        if (isDue(timeIn(row), before)) row else null
      }

    override def take(): Unit = {
      taken += 1
      count -= 1
    }

    override def finish(): Unit = {
      log.release(taken)
      if (count == 0) reset()
      else {
        val next = timeOf(log.first)
        WaitingLog.this.first = next
        sequences.head.head = log.first
        sequences.head.next = next
      }
    }
  }

  /** Releases the first rows of sequences, and unsorted rows. */
  private final class Merged(before: Long, order: Ordering[InternalRow]) extends WaitingRows {
    private val merge = new Merge(before, order)

    override def first: UnsafeRow = merge.first

    override def take(): Unit = {
      merge.take()
      count -= 1
    }

    override def finish(): Unit = {
      merge.finish()
      if (count == 0) {
        log.release(log.end)
        reset()
      } else {
        WaitingLog.this.first = (sequences.iterator.map(_.next) ++ Iterator(unsortedFirst)).min
        releaseFront()
      }
    }
  }

  /** Reads rows before a time in order. Of equal rows, the one that arrived first precedes. */
  private final class Merge(before: Long, order: Ordering[InternalRow], from: Int = 0) {
    private val inUnsorted = new UnsortedRows(before, order, sequences.size)
    private val fronts: Seq[Front] = sequences.iterator.zipWithIndex
      .drop(from)
      .collect {
        case (one, rank) if isDue(one.next, before) => new Front(one, before, rank)
      }
      .toSeq
    private val queue = new java.util.PriorityQueue[DueRows]((a: DueRows, b: DueRows) => {
      val compared = order.compare(a.row, b.row)
      if (compared != 0) compared else Integer.compare(a.rank, b.rank)
    })
    (fronts :+ inUnsorted).foreach(enter)

    def first: UnsafeRow = if (queue.isEmpty) null else queue.peek().row

    def take(): Unit = {
      val rows = queue.poll()
      rows.advance()
      enter(rows)
    }

    /** Removes the rows that were read from sequences and unsorted rows. */
    def finish(): Unit = {
      fronts.foreach(_.finish())
      sequences.filterInPlace(one => one.size > 0)
      inUnsorted.finish()
    }

    private def enter(rows: DueRows): Unit = if (rows.row != null) {
      val _ = queue.add(rows)
    }
  }

  /** The rows of a sequence before a time. Some of them are on the heap, as reading a row may
    * read a run of rows.
    */
  private final class Front(sequence: Sequence, before: Long, val rank: Int) extends DueRows {
    private val read = new Array[UnsafeRow](Math.min(RowsOfFront, sequence.size).toInt)
    private var inRead = 0
    private var at = 0
    private var next = sequence.head
    private var nextTime = sequence.next
    readMore()

    override def row: UnsafeRow = if (at < inRead) read(at) else null

    override def advance(): Unit = {
      at += 1
      if (at == inRead) readMore()
    }

    def finish(): Unit = {
      sequence.head = next
      sequence.next = nextTime
    }

    private def readMore(): Unit = {
      at = 0
      inRead = 0
      var bytes = 0L
      var more = true
      while (more && inRead < read.length && next < sequence.end && bytes < BytesOfFront) {
        pointTo(WaitingLog.this.row, next)
        nextTime = timeIn(WaitingLog.this.row)
        more = isDue(nextTime, before)
        if (more) {
          read(inRead) = WaitingLog.this.row.copy()
          bytes += read(inRead).getSizeInBytes
          inRead += 1
          next += 1
        }
      }
    }
  }

  /** The unsorted rows before a time. */
  private final class UnsortedRows(before: Long, order: Ordering[InternalRow], val rank: Int)
      extends DueRows {
    private var firstStaying = Never
    private var firstOrdinal = unsortedEnd
    private var staying = 0L
    private val isRead = isDue(unsortedFirst, before)
    private val rows = if (isRead) collect() else Array.empty[UnsafeRow]
    private var taken = 0

    override def row: UnsafeRow = if (taken == rows.length) null else rows(taken)
    override def advance(): Unit = taken += 1

    def finish(): Unit = if (isRead) {
      unsorted = staying
      unsortedFirst = firstStaying
      unsortedFrom = firstOrdinal
      if (unsorted == 0) noneUnsorted()
    }

    private def collect(): Array[UnsafeRow] = {
      val due = mutable.ArrayBuffer.empty[UnsafeRow]
      unsortedOrdinals.foreach { ordinal =>
        pointTo(WaitingLog.this.row, ordinal)
        val time = timeIn(WaitingLog.this.row)
        if (isDue(time, before)) due += WaitingLog.this.row.copy()
        else {
          staying += 1
          firstStaying = Math.min(firstStaying, time)
          firstOrdinal = Math.min(firstOrdinal, ordinal)
        }
      }
      sorted(due, order)
    }
  }
}

private object WaitingLog {
  val Never: Long = Long.MaxValue

  /** True if a time is before another; each time is before [[Never]], and [[Never]] itself too.
    */
  def isDue(time: Long, before: Long): Boolean = time < before || before == Never

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

  /** The number of rows in a run at most. Each micro-batch may release a few rows of each
    * sequence.
    */
  val LongestRun = 32

  /** The number of rows of a sequence on the heap, and their bytes but for those of one row. */
  val RowsOfFront: Long = LongestRun.toLong
  val BytesOfFront = 32768L

  /** The log has at most so many rows for each waiting row, and some more. */
  val MostPerWaiting = 4L
  val FewRows = 64L

  // The kinds of a stored log.
  val NoRows = 0
  val Rows = 1
  val RowsInOrder = 2
  val SomeReleased = 3
  val Sequences = 4

  /** Rows of a log in the order of their release.
    *
    * @param head
    *   ordinal of the first row that waits
    * @param end
    *   ordinal behind the last row
    * @param next
    *   time of the first row in microseconds, or the beginning of its millisecond
    */
  final class Sequence(var head: Long, var end: Long, var next: Long) {
    def size: Long = end - head
  }

  /** Rows that are released, in order. */
  trait DueRows {

    /** The first row that is not taken; null if there is none. */
    def row: UnsafeRow

    /** Takes the first row, which stays valid. */
    def advance(): Unit

    /** The place among rows of the same order. */
    def rank: Int
  }

  /** Sorts rows. The sort is stable, so equal rows stay in the order of their arrival. */
  def sorted(
      rows: mutable.ArrayBuffer[UnsafeRow],
      order: Ordering[InternalRow]): Array[UnsafeRow] = {
    val all = rows.toArray
    java.util.Arrays.sort(all, order)
    all
  }
}
