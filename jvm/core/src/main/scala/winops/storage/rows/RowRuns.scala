package winops.storage.rows

import scala.collection.mutable

import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException, Segments}

/** Stores the older rows of a [[RowLog]] in runs, entries of up to [[RunLengths.Longest]] rows.
  *
  * A run is stored under the row number at which it begins, a multiple of its length. The next
  * run begins where it ends. Only the newest run may be unfilled: it is then stored again, once,
  * when it is full. A run is removed when its last row is released.
  *
  * @param segments
  *   stores the runs
  * @param withArrival
  *   true if arrival times are stored
  * @param form
  *   predicts the rows
  */
private[rows] final class RowRuns(segments: Segments, withArrival: Boolean, form: RowForm) {
  import RowLog.FirstRun
  import RowRuns.Unknown

  /** The row number at which the oldest run begins; [[end]] if there is no run. */
  private var front = 0L
  private var endRow = 0L

  /** The end of the oldest run, which each release of a row asks for; [[Unknown]] at first. */
  private var frontEnd = Unknown

  /** The ends of the runs that were read or written, by their beginnings. */
  private val ends = mutable.LongMap.empty[Long]

  private var recent = new RowRun(withArrival, form)
  private var other = new RowRun(withArrival, form)
  private val writer = new ByteWriter

  /** The row number behind the newest row in runs. */
  def end: Long = endRow

  private def isEmpty: Boolean = front == endRow

  /** The row number at which the next rows are stored, a multiple of [[RowLog.ShortestRun]]. An
    * unfilled run begins there.
    */
  def newestStart: Long = endRow - endRow % RowLog.ShortestRun

  /** Returns true if the newest run is unfilled. */
  def isUnfilled: Boolean = !isEmpty && endRow > newestStart

  /** Starts with a group that has no rows before `first`. */
  def clear(first: Long): Unit = {
    skipTo(first)
    if (ends.nonEmpty) ends.clear()
    recent.clear()
    other.clear()
  }

  /** Moves the end to a row that no row in runs precedes. */
  def skipTo(row: Long): Unit = {
    front = row
    endRow = row
    frontEnd = Unknown
  }

  /** Returns the run of a row before [[end]]; valid until the next call of a method. */
  def find(row: Long): RowRun = {
    if (!recent.has(row)) {
      val older = other
      other = recent
      recent = older
      if (!recent.has(row)) load(row)
    }
    recent
  }

  /** Stores the first `count` rows of a buffer, which follow the rows in runs, in the newest run.
    *
    * @param first
    *   the oldest row that is not released
    */
  def append(open: RowBuffer, count: Int, first: Long): Unit = {
    writer.clear()
    val start = if (isUnfilled) {
      val run = find(endRow - 1)
      run.dropBefore(first)
      run.rows.appendFrom(open, count)
      run.save(writer)
      run.start
    } else {
      if (isEmpty) front = newestStart
      RowRun.write(writer, open, count, form, endRow - newestStart)
      newestStart
    }
    segments.put(FirstRun + start, writer.toArray)
    endRow += count
    ends.update(start, endRow)
    if (start == front) frontEnd = endRow
  }

  /** Removes the runs whose rows are all before `until`. */
  def release(until: Long): Unit = {
    val stop = Math.min(until, endRow)
    while (front < stop && mayEndBefore(stop) && endOfFront <= stop) {
      val next = endOfFront
      segments.remove(FirstRun + front)
      ends.remove(front)
      if (recent.start == front) recent.clear()
      if (other.start == front) other.clear()
      front = next
      frontEnd = Unknown
    }
  }

  /** Writes what locates the runs. */
  def save(out: ByteWriter, first: Long): Unit = {
    out.number(first)
    val isNear = front == nearestFront(first)
    out.number((endRow - first) << 1 | (if (isNear) 1L else 0L))
    if (endRow > first && !isNear) out.number(first - front)
  }

  /** Restores what [[save]] wrote; returns the oldest row. */
  def restore(in: ByteReader): Long = {
    val first = in.count(Long.MaxValue)
    clear(first)
    val rows = in.count(Long.MaxValue)
    endRow = first + (rows >> 1)
    front =
      if (endRow == first) endRow
      else if ((rows & 1) == 1) nearestFront(first)
      else first - in.number()
    if (endRow < first || front < 0 || front > first || first - front >= RunLengths.Longest ||
      front % RowLog.ShortestRun != 0 && front < endRow) {
      throw new CorruptStateException(s"rows from $first until $endRow, in runs from $front on")
    }
    first
  }

  /** The beginning of the oldest run if it is one of the shortest. */
  private def nearestFront(first: Long): Long = first - first % RowLog.ShortestRun

  private def load(row: Long): Unit = {
    // The beginning of the oldest run is known, also if the run is long.
    if (row - front < RunLengths.Longest && !ends.contains(front)) {
      val _ = read(front)
    }
    if (!recent.has(row)) search(row)
  }

  /** Reads the run of a row. A run begins at a multiple of its length, and of the beginnings that
    * are possible, only the last one that exists has the row.
    */
  private def search(row: Long): Unit = {
    var length = RowLog.ShortestRun
    var isThere = false
    while (!isThere && length <= RunLengths.Longest) {
      isThere = read(row - row % length)
      length *= 2
    }
    if (!recent.has(row)) throw new CorruptStateException(s"the run of row $row is missing")
  }

  /** Reads the run that begins at a row; returns false if there is none. */
  private def read(start: Long): Boolean = {
    val bytes = if (start < front || start >= endRow) null else segments.get(FirstRun + start)
    recent.clear()
    if (bytes != null) {
      recent.restore(start, bytes)
      if (recent.end > endRow || recent.rows.count == 0) {
        throw new CorruptStateException(s"the run from $start on ends at ${recent.end}")
      }
      ends.update(start, recent.end)
    }
    bytes != null
  }

  /** Returns false if the oldest run has rows behind `row`, as its least length shows. */
  private def mayEndBefore(row: Long): Boolean =
    row == endRow || row - front >= RowLog.ShortestRun

  private def endOfFront: Long = {
    if (frontEnd == Unknown) {
      frontEnd = ends.getOrElse(
        front, {
          if (!read(front)) throw new CorruptStateException(s"the run from $front on is missing")
          recent.end
        })
    }
    frontEnd
  }
}

private object RowRuns {

  /** Stands for an end that has not been looked up. */
  private val Unknown = -1L
}
