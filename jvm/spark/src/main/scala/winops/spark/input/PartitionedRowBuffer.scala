package winops.spark.input

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.winops.internal.TaskPages
import org.apache.spark.unsafe.memory.MemoryBlock

/** Buffers a task's input rows in memory, partitioned by the leading bits of the key hash so that
  * each partition fits the processor's cache. Most of the cost of grouping is reading rows in
  * another order than the one in which they lie in memory. A small number of rows is one
  * partition.
  *
  * @param newest
  *   finds the newest rows of each group, if the query needs no others; other rows are dropped
  *   whenever a partition has doubled and when memory runs out
  */
private[spark] final class PartitionedRowBuffer(newest: Option[NewestRows] = None) {
  import PartitionedRowBuffer._

  private val pages = TaskPages.ofTask()
  private val maxRows = TaskPages.maxRows
  private var parts = Array(new RowPartition(pages))
  private var room = Array.fill(1)(Long.MaxValue)
  private var partBits = 0
  private var bytesAdded = 0L
  private var rows = 0L
  private var reserve: MemoryBlock = _

  TaskPages.whenTaskEnds(clear())

  /** Adds a copy of a row. Returns false if there is no memory for it. */
  def add(row: UnsafeRow, hash: Long): Boolean = {
    val added = tryToAdd(row, hash) || newest.isDefined && dropOld() && tryToAdd(row, hash)
    if (added) {
      bytesAdded += row.getSizeInBytes
      rows += 1
    }
    added
  }

  /** The bytes of all rows that were added. */
  def bytes: Long = bytesAdded

  /** The number of rows. */
  def size: Long = rows

  private def tryToAdd(row: UnsafeRow, hash: Long): Boolean = {
    val fits = isPartitioned || bytesAdded <= MaxBytesInOnePart || partition()
    fits && rows < maxRows && {
      val part = partOf(hash)
      if (parts(part).bytes >= room(part)) dropOld(part)
      parts(part).add(row.getBaseObject, row.getBaseOffset, row.getSizeInBytes, hash)
    }
  }

  /** The partitions. The reader clears each partition after reading it. */
  def all: Iterator[RowPartition] = {
    giveBackReserve()
    newestOfParts
  }

  /** False for a small number of rows, which are one partition. */
  def isPartitioned: Boolean = partBits > 0

  /** Iterates over all rows; each is valid until the next one is read. Frees the memory of
    * partitions as they are read. Some memory is freed at once, so that a sorter can start.
    */
  def takeOut(width: Int): Iterator[UnsafeRow] = takeOut(_.flatMap(_.takeOut(width)))

  /** Iterates over all rows in the order in which `read` reads them. `read` clears each partition
    * after reading it.
    */
  def takeOut(read: Iterator[RowPartition] => Iterator[UnsafeRow]): Iterator[UnsafeRow] = {
    val rows = read(all)
    if (isPartitioned) rows else rows.map(_.copy()).toVector.iterator
  }

  private def newestOfParts: Iterator[RowPartition] = parts.indices.iterator.map { part =>
    if (newest.isDefined) dropOld(part)
    parts(part)
  }

  /** Drops rows that are not among the newest. Returns true if at least a quarter of the bytes is
    * freed.
    */
  private def dropOld(): Boolean = {
    val before = parts.map(_.bytes).sum
    parts.indices.foreach(dropOld)
    parts.map(_.bytes).sum <= before / 4 * 3
  }

  private def dropOld(part: Int): Unit = newest.foreach { newest =>
    val all = parts(part)
    val kept = new RowPartition(pages, RowPartition.EvenPages)
    if (newest.copy(all, kept)) {
      rows -= all.rows - kept.rows
      parts(part) = kept
      all.clear()
    } else kept.clear()
    room(part) = Math.max(MaxBytesInOnePart, 2 * parts(part).bytes)
  }

  private def partOf(hash: Long): Int =
    if (!isPartitioned) 0 else (hash >>> (java.lang.Long.SIZE - partBits)).toInt

  /** Distributes the rows over many partitions. Returns false and changes nothing if there is no
    * memory for them.
    */
  private def partition(): Boolean = {
    val partitions = Array.fill(1 << PartBits)(new RowPartition(pages))
    val one = parts(0)
    val cursor = one.cursor
    reserve = pages.take(ReserveBytes)
    var fits = reserve != null
    while (fits && cursor.next()) {
      val part = partitions((cursor.hash >>> (java.lang.Long.SIZE - PartBits)).toInt)
      fits = part.add(cursor.base, cursor.offset, cursor.length, cursor.hash)
    }
    if (fits) {
      one.clear()
      parts = partitions
      room =
        Array.fill(partitions.length)(if (newest.isEmpty) Long.MaxValue else MaxBytesInOnePart)
      partBits = PartBits
    } else {
      partitions.foreach(_.clear())
      giveBackReserve()
    }
    fits
  }

  private def giveBackReserve(): Unit = if (reserve != null) {
    pages.giveBack(reserve)
    reserve = null
  }

  private def clear(): Unit = {
    parts.foreach(_.clear())
    giveBackReserve()
  }
}

private[spark] object PartitionedRowBuffer {
  private val PartBits = 6

  /** A size that fits the second-level cache of a processor. */
  private val MaxBytesInOnePart = 1L << 20

  /** Memory that a sorter needs to start. */
  private val ReserveBytes = 4L << 20
}
