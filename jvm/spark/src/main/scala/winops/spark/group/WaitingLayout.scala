package winops.spark.group

import scala.collection.mutable

/** The places of the waiting rows of a [[WaitingLog]]: in sequences, and unsorted behind them.
  *
  * @param rows
  *   the rows of the log
  * @param schedule
  *   the unsorted rows that are released next
  */
private[group] final class WaitingLayout(val rows: TimedRows, schedule: ReleaseSchedule) {

  /** The sequences, in the order in which their rows arrived. None of them is empty. */
  val sequences: mutable.ArrayBuffer[RowSequence] = mutable.ArrayBuffer.empty

  val unsorted = new UnsortedTail(rows, schedule)

  /** The number of waiting rows. */
  def size: Long = unsorted.size + sequences.iterator.map(_.size).sum

  /** The earliest time of a waiting row in microseconds, or the beginning of its millisecond;
    * [[WaitingRows.Never]] if no row waits.
    */
  def firstTime: Long = firstTimeFrom(0)

  /** The [[firstTime]] of the unsorted rows and of the sequences from one on. */
  def firstTimeFrom(sequence: Int): Long =
    (sequences.iterator.drop(sequence).map(_.next) ++ Iterator(unsorted.firstTime)).min

  /** The ordinals of the waiting rows. */
  def ordinals: Iterator[Long] =
    sequences.iterator.flatMap(one => UnsortedTail.range(one.head, one.end)) ++
      unsorted.ordinals(firstTime)

  /** True if the rows of the log are one sequence. */
  def isInOrder: Boolean =
    sequences.size == 1 && unsorted.isEmpty &&
      sequences.head.head == rows.first && sequences.head.end == rows.end

  /** True if the newest row of the log ends a sequence. */
  def endsInSequence: Boolean = sequences.lastOption.exists(_.end == rows.end)

  /** True if a sequence has been appended behind the unsorted rows. */
  def isUnsortedBetween: Boolean = !unsorted.isEmpty && unsorted.end < rows.end

  /** Makes the only sequence unsorted rows. */
  def dissolve(): Unit = {
    unsorted.place(rows.first, rows.end, size, sequences.head.next)
    sequences.clear()
  }

  /** Removes the released rows before all that wait from the log. */
  def releaseFront(): Unit = {
    val heads = sequences.iterator.map(_.head) ++ Option.when(!unsorted.isEmpty)(unsorted.from)
    rows.release(heads.minOption.getOrElse(rows.end))
  }

  /** Starts with a group of which no rows wait. */
  def begin(): Unit = {
    sequences.clear()
    unsorted.begin()
  }

  /** Removes all rows that wait. */
  def clear(): Unit = {
    sequences.clear()
    unsorted.clear()
  }
}
