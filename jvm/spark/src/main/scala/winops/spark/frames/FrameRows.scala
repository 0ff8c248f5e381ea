package winops.spark.frames

import org.apache.spark.sql.catalyst.expressions._

import winops.spark.plan.FrameBound
import winops.spark.row.{RowBytes, StoredRows}
import winops.storage.bytes.CorruptStateException
import winops.storage.rows.RowLog

/** The columns that frames need of a group's rows, by the number of the row, and how much is
  * known about the rows that follow.
  *
  * @param columns
  *   the columns that frames need
  * @param content
  *   the columns of an input row
  * @param order
  *   the sort keys of the window, over `columns`
  * @param whole
  *   the rows that follow those of `log`, with all columns
  * @param log
  *   stores the columns of the rows before
  */
private[spark] final class FrameRows(
    val columns: Seq[Attribute],
    content: Seq[Attribute],
    order: Seq[SortOrder],
    whole: RowLog,
    log: RowLog)
    extends StoredRows {
  private val projection = UnsafeProjection.create(columns, content)
  private val wholeRow = new UnsafeRow(content.size)

  /** The columns of the last row that was read from `whole`, and its ordinal. */
  private var projected: UnsafeRow = _
  private var projectedOrdinal = -1L

  private val left = UnsafeRow.createFromByteArray(0, columns.size)
  private val right = new UnsafeRow(columns.size)
  private var known = FrameRows.Nothing

  /** The ordinal after the newest row. */
  def end: Long = whole.end

  /** True if all rows with a time before [[knownBefore]] have arrived. */
  def isInstantComplete: Boolean = known != FrameRows.Nothing

  /** True if no further row belongs to the partition. */
  def isEnded: Boolean = known == FrameRows.Everything

  /** The time, in microseconds, before which all rows have arrived. */
  def knownBefore: Long = known

  /** Starts with the rows of a group: more rows of any time may follow. */
  def open(): Unit = {
    known = FrameRows.Nothing
    projectedOrdinal = -1L
  }

  /** Ends the rows of a micro-batch, which has all rows with an earlier time than `before`. */
  def complete(before: Long): Unit = known =
    Math.max(FrameRows.Nothing + 1, Math.min(before, FrameRows.Everything - 1))

  /** Ends the partition. */
  def finish(): Unit = known = FrameRows.Everything

  /** Throws an error if `first` is not the first row of the partition. */
  def checkFirst(first: Long): Unit =
    if (first > 0) throw new CorruptStateException(s"the rows before row $first are not stored")

  /** Stores the columns of the first row of `whole` that is not in `log`. */
  def keepNext(): Unit = RowBytes.append(log, 0L, columnsOf(log.end))

  override def pointTo(row: UnsafeRow, ordinal: Long): Unit =
    if (ordinal < log.end) RowBytes.pointTo(row, log, ordinal)
    else {
      val found = columnsOf(ordinal)
      row.pointTo(found.getBaseObject, found.getBaseOffset, found.getSizeInBytes)
    }

  private def columnsOf(ordinal: Long): UnsafeRow = {
    if (ordinal != projectedOrdinal) {
      RowBytes.pointTo(wholeRow, whole, ordinal)
      projected = projection(wholeRow)
      projectedOrdinal = ordinal
    }
    projected
  }

  /** The peers of a boundary. */
  def peersOf(bound: FrameBound.ByPeers): Peers = new Peers(bound.keysOf(order))

  /** Rows with equal values of some sort keys. */
  final class Peers(keys: Seq[SortOrder]) {
    private val ordering = RowOrdering.create(keys, columns)

    /** Returns true if two rows have equal sort keys. */
    def contain(one: Long, other: Long): Boolean = {
      // A row is valid until the log finds another one.
      pointTo(right, one)
      left.copyFrom(right)
      pointTo(right, other)
      ordering.compare(left, right) == 0
    }
  }
}

private[spark] object FrameRows {
  private val Nothing = Long.MinValue
  private val Everything = Long.MaxValue
}
