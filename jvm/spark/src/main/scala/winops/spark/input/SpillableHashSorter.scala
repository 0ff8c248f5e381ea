package winops.spark.input

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.winops.internal.Catalyst
import org.apache.spark.unsafe.Platform

/** Sorts the rows of a task by their hashes. Spark's sorter takes its memory from the task, and
  * spills when memory runs out.
  *
  * @param input
  *   the rows, which are all read by the constructor
  * @param width
  *   number of columns
  */
final class SpillableHashSorter(input: Iterator[UnsafeRow], hashOf: UnsafeRow => Long, width: Int)
    extends Iterator[UnsafeRow] {
  import SpillableHashSorter._

  private val sorter = Catalyst.externalSorter(PageBytes, MaxBytesInMemory)
  input.foreach { row =>
    // Spark compares signed numbers, and a state store has its groups in the order of unsigned ones.
    val rank = hashOf(row) ^ Long.MinValue
    sorter.insertRecord(row.getBaseObject, row.getBaseOffset, row.getSizeInBytes, rank, false)
  }
  private val sorted = sorter.getSortedIterator
  private val row = new UnsafeRow(width)

  override def hasNext: Boolean = sorted.hasNext || {
    sorter.cleanupResources()
    false
  }

  /** The next row; valid until the next call of any method. */
  override def next(): UnsafeRow = {
    if (!hasNext) throw new NoSuchElementException
    sorted.loadNext()
    row.pointTo(sorted.getBaseObject, sorted.getBaseOffset, sorted.getRecordLength)
    row
  }
}

object SpillableHashSorter {

  /** Small pages, so that a sorter can start when other consumers have taken most memory. With
    * the header of its array, a page fills whole regions of the G1 collector; a longer one would
    * waste most of another region.
    */
  private val PageBytes = (1L << 20) - Platform.LONG_ARRAY_OFFSET

  /** Limits the sorter to 6144 pages. A task can have 8192. */
  private val MaxBytesInMemory = 6L << 30
}
