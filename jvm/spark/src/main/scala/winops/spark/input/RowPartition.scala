package winops.spark.input

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.winops.internal.TaskPages
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.memory.MemoryBlock

/** Stores rows one after the other in pages of memory. Each row has a header with its hash, its
  * length and the address of the next row of its chain.
  *
  * @param pages
  *   the memory of the task
  * @param doublings
  *   number of times that the page size doubles
  */
private[spark] final class RowPartition(
    pages: TaskPages,
    doublings: Int = RowPartition.Doublings) {
  import RowPartition._

  private var blocks = new Array[MemoryBlock](4)
  private var ends = new Array[Long](4)
  private var count = 0
  private var bytesUsed = 0L
  private var rowsAdded = 0L

  /** The bytes of all rows with their headers. */
  def bytes: Long = bytesUsed
  def rows: Long = rowsAdded

  /** Adds a copy of a row. Returns false if there is no memory for it. */
  def add(base: Object, offset: Long, length: Int, hash: Long): Boolean = {
    val needed = bytesOf(length)
    val fits = hasRoomFor(needed) || takePage(needed)
    if (fits) {
      val block = blocks(count - 1)
      val at = block.getBaseOffset + ends(count - 1)
      Platform.putLong(block.getBaseObject, at, hash)
      Platform.putLong(block.getBaseObject, at + NextAt, None)
      Platform.putLong(block.getBaseObject, at + LengthAt, length.toLong)
      Platform.copyMemory(base, offset, block.getBaseObject, at + HeaderBytes, length.toLong)
      ends(count - 1) += needed
      bytesUsed += needed
      rowsAdded += 1
    }
    fits
  }

  def clear(): Unit = {
    var i = 0
    while (i < count) {
      pages.giveBack(blocks(i))
      blocks(i) = null
      i += 1
    }
    count = 0
    bytesUsed = 0L
    rowsAdded = 0L
  }

  /** Iterates over all rows, then clears the partition. Each row is valid until the next one is
    * read.
    */
  def takeOut(width: Int): Iterator[UnsafeRow] = {
    val all = cursor
    val row = new UnsafeRow(width)
    Iterator
      .continually(all.next())
      .takeWhile { found =>
        if (!found) clear()
        found
      }
      .map { _ =>
        all.pointTo(row)
        row
      }
  }

  /** A cursor over the rows, in the order of their insertion. */
  def cursor: Cursor = new Cursor

  final class Cursor {
    private var block = 0
    private var at = 0L
    private var behind = 0L

    /** Moves to the next row; returns false after the last. */
    def next(): Boolean = {
      while (block < count && behind == ends(block)) {
        block += 1
        behind = 0L
      }
      val found = block < count
      if (found) {
        at = behind
        behind = at + bytesOf(length)
      }
      found
    }

    /** The address of the row, for [[moveTo]]. */
    def address: Long = block.toLong << OffsetBits | at

    def moveTo(address: Long): Unit = {
      block = (address >>> OffsetBits).toInt
      at = address & OffsetMask
    }

    def hash: Long = Platform.getLong(base, start)

    /** The address of the next row in the chain; [[RowPartition.None]] after the last. */
    def follower: Long = Platform.getLong(base, start + NextAt)
    def follower_=(address: Long): Unit = Platform.putLong(base, start + NextAt, address)

    def pointTo(row: UnsafeRow): Unit = row.pointTo(base, offset, length)

    def base: Object = blocks(block).getBaseObject
    def offset: Long = start + HeaderBytes
    def length: Int = Platform.getLong(base, start + LengthAt).toInt

    private def start: Long = blocks(block).getBaseOffset + at
  }

  private def hasRoomFor(bytes: Long): Boolean =
    count > 0 && ends(count - 1) + bytes <= blocks(count - 1).size

  private def takePage(bytes: Long): Boolean = {
    val size = (FirstPageBytes << Math.min(count, doublings)) - Platform.LONG_ARRAY_OFFSET
    val block = pages.take(Math.max(bytes, size))
    if (block != null) {
      if (count == blocks.length) {
        blocks = java.util.Arrays.copyOf(blocks, count * 2)
        ends = java.util.Arrays.copyOf(ends, count * 2)
      }
      blocks(count) = block
      ends(count) = 0L
      count += 1
    }
    block != null
  }
}

private[spark] object RowPartition {

  /** The address that stands for no row. */
  val None: Long = -1L

  private val NextAt = 8
  private val LengthAt = 16
  private val HeaderBytes = 24

  /** The bytes of a row of `length` bytes with its header. Rows begin at whole words. */
  private def bytesOf(length: Int): Long = HeaderBytes + (length.toLong + 7) / 8 * 8

  private val OffsetBits = 40
  private val OffsetMask = (1L << OffsetBits) - 1

  /** The first page has 128 KB. Each further page has twice the size of the one before, up to 4
    * MB. The sizes include the header of a page's array, because an array that is longer than
    * regions of the G1 collector wastes most of another region. A larger row has a page of its
    * own size.
    */
  private val FirstPageBytes = 1L << 17
  private val Doublings = 5

  /** Number of doublings for a partition that grows and shrinks. Pages of at most 256 KB leave
    * less memory unused than pages of 4 MB.
    */
  val EvenPages = 1
}
