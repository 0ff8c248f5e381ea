package winops.spark.frames

import org.apache.spark.sql.catalyst.expressions._

import winops.spark.plan.FrameBound
import winops.storage.bytes.{ByteReader, ByteWriter}

/** A boundary of a frame, which only moves forward from row to row. */
private[frames] abstract class Boundary {

  /** Returns true if no further row can change the boundary of `row`. */
  def isKnown(row: Long): Boolean

  /** Moves to the boundary of `row`, which is not before the row of the last call. Returns the
    * ordinal of the first row behind the boundary.
    */
  def moveTo(row: Long): Long

  /** The ordinal that the boundary of `row` or of a later row has at least. */
  def atLeast(row: Long): Long

  /** The time in microseconds after which the boundary of `row` is known, or `Long.MaxValue`. */
  def knownAfter(row: Long): Long = Long.MaxValue

  /** The longest time, in microseconds, by which the boundary of a row is before the row;
    * `Long.MaxValue` if time does not limit it.
    */
  def reach: Long = Long.MaxValue

  /** Moves to `end`, behind all stored rows, which are before the boundary of all later rows. */
  def moveBehind(end: Long): Unit = ()

  def clear(): Unit = ()

  /** Starts with a group whose stored rows begin with `first`. */
  def startFrom(first: Long): Unit = clear()
  def save(out: ByteWriter): Unit = ()
  def restore(in: ByteReader): Unit = ()
}

private[frames] object Boundary {

  /** The boundary before the first row of a frame. */
  def lower(bound: FrameBound, rows: FrameRows, time: Option[Attribute]): Boundary =
    bound match {
      case FrameBound.Unbounded => Start
      case FrameBound.ByRows(offset) => new RowBoundary(rows, offset.toLong)
      case by: FrameBound.ByPeers => new PeersStart(rows, by)
      case by: FrameBound.ByTime => new TimeBoundary(rows, time.get, by, includesEqual = false)
    }

  /** The boundary behind the last row of a frame. */
  def upper(bound: FrameBound, rows: FrameRows, time: Option[Attribute]): Boundary =
    bound match {
      case FrameBound.Unbounded => throw new IllegalArgumentException("UNBOUNDED FOLLOWING")
      case FrameBound.ByRows(offset) => new RowBoundary(rows, offset.toLong + 1)
      case by: FrameBound.ByPeers => new PeersEnd(rows, by)
      case by: FrameBound.ByTime => new TimeBoundary(rows, time.get, by, includesEqual = true)
    }

  /** The start of the partition. */
  private object Start extends Boundary {
    override def isKnown(row: Long): Boolean = true
    override def moveTo(row: Long): Long = 0L
    override def atLeast(row: Long): Long = 0L
  }

  /** The row at a distance from the current one. */
  private final class RowBoundary(rows: FrameRows, offset: Long) extends Boundary {
    override def isKnown(row: Long): Boolean = row + offset <= rows.end || rows.isEnded
    override def moveTo(row: Long): Long = Math.min(atLeast(row), rows.end)
    override def atLeast(row: Long): Long = Math.max(0L, row + offset)
  }

  /** A boundary that is found by looking at one row after the other. */
  private abstract class Scan(rows: FrameRows) extends Boundary {
    protected var position = 0L

    /** Returns true if the row at `position` is before the boundary of `row`. */
    protected def isBefore(row: Long): Boolean

    override def moveTo(row: Long): Long = {
      while (position < rows.end && isBefore(row)) position += 1
      position
    }

    override def atLeast(row: Long): Long = position
    override def reach: Long = 0L
    override def moveBehind(end: Long): Unit = position = Math.max(position, end)
    override def clear(): Unit = position = 0L

    override def startFrom(first: Long): Unit = {
      clear()
      position = first
    }

    override def save(out: ByteWriter): Unit = out.number(position)
    override def restore(in: ByteReader): Unit = position = in.count(Long.MaxValue)
  }

  /** The first of the current row's peers. */
  private final class PeersStart(rows: FrameRows, bound: FrameBound.ByPeers) extends Scan(rows) {
    private val peers = rows.peersOf(bound)

    override def isKnown(row: Long): Boolean = true

    override protected def isBefore(row: Long): Boolean =
      position < row && !peers.contain(position, row)
  }

  /** The row behind the current row's peers. */
  private final class PeersEnd(rows: FrameRows, bound: FrameBound.ByPeers) extends Scan(rows) {
    private val peers = rows.peersOf(bound)

    override def isKnown(row: Long): Boolean =
      rows.isInstantComplete || moveTo(row) < rows.end

    override protected def isBefore(row: Long): Boolean =
      position <= row || peers.contain(position, row)
  }

  /** The row at a distance in time from the current one. */
  private final class TimeBoundary(
      rows: FrameRows,
      time: Attribute,
      bound: FrameBound.ByTime,
      includesEqual: Boolean)
      extends Scan(rows) {
    private val ordinal = rows.columns.indexWhere(_.exprId == time.exprId)
    private val limitOf = UnsafeProjection.create(Seq(bound.of(time)), rows.columns)
    private val found = new UnsafeRow(rows.columns.size)
    private var limitRow = -1L
    private var limit = 0L

    override def isKnown(row: Long): Boolean =
      limitFor(row) < rows.knownBefore || rows.isEnded || moveTo(row) < rows.end

    override def knownAfter(row: Long): Long = limitFor(row)
    override val reach: Long = bound.longestBefore

    override protected def isBefore(row: Long): Boolean = {
      val end = limitFor(row)
      rows.pointTo(found, position)
      val at = found.getLong(ordinal)
      if (includesEqual) at <= end else at < end
    }

    private def limitFor(row: Long): Long = {
      if (limitRow != row) {
        rows.pointTo(found, row)
        limit = limitOf(found).getLong(0)
        limitRow = row
      }
      limit
    }

    override def clear(): Unit = {
      super.clear()
      limitRow = -1L
    }

    override def restore(in: ByteReader): Unit = {
      super.restore(in)
      limitRow = -1L
    }
  }
}
