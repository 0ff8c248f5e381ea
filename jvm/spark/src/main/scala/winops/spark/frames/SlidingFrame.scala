package winops.spark.frames

import org.apache.spark.sql.catalyst.expressions.{Expression, UnsafeRow}

import winops.spark.aggregates.GroupAggregates
import winops.spark.expressions.WindowAggregate
import winops.storage.btree.Pages
import winops.storage.bytes.{ByteReader, ByteWriter}

/** Aggregates over a frame whose first and last row both move.
  *
  * @param aggregates
  *   the functions, in the order of the values
  * @param lower
  *   the boundary before the first row of the frame
  * @param upper
  *   the boundary behind the last row of the frame
  * @param pages
  *   the storage of partial aggregates
  * @param foldsRows
  *   returns true for functions that are computed from all rows of the frame, oldest to newest
  */
private[frames] final class SlidingFrame(
    aggregates: Seq[WindowAggregate],
    rows: FrameRows,
    lower: Boundary,
    upper: Boundary,
    pages: Pages,
    foldsRows: WindowAggregate => Boolean)
    extends MovingFrame(lower, upper) {
  private val contents = new GroupAggregates(
    aggregates: Seq[Expression],
    Nil,
    rows.columns,
    rows,
    pages,
    leavesFromFront = true,
    foldsRows = foldsRows)
  private var head = 0L
  private var tail = 0L

  override def of(row: Long): UnsafeRow = {
    val until = upper.moveTo(row)
    val from = Math.min(lower.moveTo(row), until)
    if (until > tail) {
      contents.insert(Math.max(tail, from), until)
      tail = until
    }
    if (from > head) {
      contents.remove(head, from)
      head = from
    }
    contents.beside(row)
  }

  override def leaveBehind(end: Long): Unit = {
    super.leaveBehind(end)
    if (tail > head) contents.remove(head, tail)
    head = Math.max(head, end)
    tail = Math.max(tail, end)
  }

  override def clear(): Unit = {
    super.clear()
    contents.clear()
    head = 0L
    tail = 0L
  }

  override def startFrom(first: Long, next: Long): Unit = {
    super.startFrom(first, next)
    contents.clear()
    head = first
    tail = first
  }

  override def settle(): Unit = contents.settle()

  override def save(out: ByteWriter): Unit = {
    super.save(out)
    out.number(head)
    out.number(tail)
    contents.save(out)
  }

  override def restore(in: ByteReader): Unit = {
    super.restore(in)
    head = in.count(Long.MaxValue)
    tail = in.count(Long.MaxValue)
    contents.restore(in)
  }
}
