package winops.spark.input

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.winops.internal.TaskPages
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.memory.MemoryBlock

/** Rows one behind the other in pages of memory, each with its hash and with room for the address
  * of another row of its group.
  */
private[spark] final class RowPartition(pages: TaskPages, doublings: Int = RowPartition.Doublings) {
  import RowPartition._

  private var blocks = new Array[MemoryBlock](4)
  private var ends = new Array[Long](4)
  private var count = 0
  private var bytesUsed = 0L
  private var rowsAdded = 0L

  def bytes: Long = bytesUsed
  def rows: Long = rowsAdded

  /** Takes a copy of a row; false if there is no memory for it. */
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

  /** All rows, of which each is valid until the next is asked for; then the part is cleared. */
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

  /** Goes through the rows in the order in which they came. */
  def cursor: Cursor = new Cursor

  final class Cursor {
    private var block = 0
    private var at = 0L
    private var behind = 0L

    /** Moves to the next row; false after the last. */
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

    /** Where the row is, for [[moveTo]]. */
    def address: Long = block.toLong << OffsetBits | at

    def moveTo(address: Long): Unit = {
      block = (address >>> OffsetBits).toInt
      at = address & OffsetMask
    }

    def hash: Long = Platform.getLong(base, start)

    /** The address of the row that follows in the row's group; [[RowPartition.None]] if none does. */
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
    val block = pages.take(Math.max(bytes, FirstPageBytes << Math.min(count, doublings)))
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

  /** The address of no row. */
  val None: Long = -1L

  private val NextAt = 8
  private val LengthAt = 16
  private val HeaderBytes = 24

  /** What a row of `length` bytes takes; rows begin at whole words. */
  private def bytesOf(length: Int): Long = HeaderBytes + (length.toLong + 7) / 8 * 8

  private val OffsetBits = 40
  private val OffsetMask = (1L << OffsetBits) - 1

  /** Pages are of 128 KB to 4 MB, each twice the one before. */
  private val FirstPageBytes = 1L << 17
  private val Doublings = 5

  /** For a part that grows and shrinks: the last page is never most of it. */
  val EvenPages = 1
}
