package winops.spark.input

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.winops.internal.Catalyst
import org.apache.spark.util.collection.unsafe.sort.{UnsafeExternalSorter, UnsafeSorterIterator}

/** Sorts the rows of a task by their hashes. Spark's operators sort all rows at once, and most of
  * the cost is reading rows in another order than the one in which they lie in memory. This
  * sorter first partitions the rows by the leading bits of their hashes, so that each partition
  * is sorted and read within the processor's cache.
  *
  * A partition is one of Spark's sorters. The sorter takes its memory from the task, and spills
  * when memory runs out. A small number of rows is one partition.
  *
  * @param input
  *   the rows, which are all read by the constructor
  * @param width
  *   number of columns
  */
final class SpillableHashSorter(input: Iterator[UnsafeRow], hashOf: UnsafeRow => Long, width: Int)
    extends Iterator[UnsafeRow] {
  import SpillableHashSorter._

  private var parts = Array(newPart())
  private var partBits = 0
  private var inserted = 0L

  private val row = new UnsafeRow(width)
  private var part = 0
  private var sorted: UnsafeSorterIterator = _

  input.foreach(add)
  sorted = parts(0).getSortedIterator

  override def hasNext: Boolean = {
    while (!sorted.hasNext && part < parts.length) nextPart()
    sorted.hasNext
  }

  /** The next row; valid until the next call of any method. */
  override def next(): UnsafeRow = {
    if (!hasNext) throw new NoSuchElementException
    sorted.loadNext()
    row.pointTo(sorted.getBaseObject, sorted.getBaseOffset, sorted.getRecordLength)
    row
  }

  private def add(row: UnsafeRow): Unit = {
    insert(row.getBaseObject, row.getBaseOffset, row.getSizeInBytes, hashOf(row))
    inserted += row.getSizeInBytes
    if (partBits == 0 && inserted > MaxBytesInOnePart) deal()
  }

  private def insert(base: Object, offset: Long, length: Int, hash: Long): Unit = {
    val part = if (partBits == 0) 0 else (hash >>> (java.lang.Long.SIZE - partBits)).toInt
    parts(part).insertRecord(base, offset, length, hash, false)
  }

  /** Distributes the rows over many partitions. */
  private def deal(): Unit = {
    val all = parts(0)
    val rows = all.getSortedIterator
    partBits = PartBits
    parts = Array.fill(1 << PartBits)(newPart())
    while (rows.hasNext) {
      rows.loadNext()
      insert(rows.getBaseObject, rows.getBaseOffset, rows.getRecordLength, rows.getKeyPrefix)
    }
    all.cleanupResources()
  }

  private def nextPart(): Unit = {
    parts(part).cleanupResources()
    part += 1
    if (part < parts.length) sorted = parts(part).getSortedIterator
  }

  private def newPart(): UnsafeExternalSorter =
    Catalyst.externalSorter(PageBytes, MaxBytesInMemory >> PartBits)
}

object SpillableHashSorter {
  private val PartBits = 5

  /** A size that fits the second-level cache of a processor. */
  private val MaxBytesInOnePart = 1L << 20

  private val PageBytes = 1L << 20

  /** Limits the sorters to 6144 pages. A task can have 8192. */
  private val MaxBytesInMemory = 6L << 30
}
