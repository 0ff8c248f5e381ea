package winops.spark.input

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.winops.internal.{Catalyst, TaskPages}
import org.apache.spark.unsafe.Platform
import org.apache.spark.util.collection.unsafe.sort.{RecordComparator, UnsafeExternalSorter, UnsafeSorterIterator}

/** Collects a run of rows, then returns the rows in order.
  *
  * A short run is held on the heap, and is sorted only if the rows were not added in order. A
  * long run goes to Spark's external sorter, which takes its memory from the task and spills when
  * memory runs out.
  *
  * @param width
  *   number of columns
  */
final class SortedRun(order: Ordering[InternalRow], width: Int) {
  import SortedRun._

  private var bytes = new Array[Byte](FirstBytes)
  private var used = 0
  private var rows = new Array[UnsafeRow](256)
  private var offsets = new Array[Int](256)
  private var count = 0
  private var inOrder = true
  private var position = 0
  private var oneKey = true

  private var external: UnsafeExternalSorter = _
  private var sorted: UnsafeSorterIterator = _
  private val externalRow = new UnsafeRow(width)

  private val previous = new UnsafeRow(width)
  private val maxRows = TaskPages.maxRows

  def isOneKey: Boolean = oneKey

  def clear(): Unit = {
    used = 0
    count = 0
    inOrder = true
    position = 0
    sorted = null
    if (external != null) {
      external.cleanupResources()
      external = null
    }
  }

  def add(row: UnsafeRow): Unit = {
    val length = row.getSizeInBytes
    val isTooMuch = used.toLong + length > MaxHeapBytes || count == maxRows
    if (external == null && isTooMuch) moveToExternal()
    if (external != null) insertExternal(row)
    else {
      if (used + length > bytes.length) {
        val doubled = 2 * (bytes.length + HeaderBytes) - HeaderBytes
        bytes = java.util.Arrays.copyOf(bytes, Math.max(doubled, used + length))
      }
      if (count == rows.length) {
        rows = java.util.Arrays.copyOf(rows, count * 2)
        offsets = java.util.Arrays.copyOf(offsets, count * 2)
      }
      row.writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET + used.toLong)
      offsets(count) = used
      used += length
      if (inOrder && count > 0) {
        pointTo(previous, count - 1, offsets(count))
        inOrder = order.compare(previous, row) <= 0
      }
      count += 1
    }
  }

  /** Sorts the rows. `hasOneKey` is true if all rows are one group. */
  def sort(hasOneKey: Boolean): Unit = {
    oneKey = hasOneKey
    if (external != null) sorted = external.getSortedIterator
    else {
      var i = 0
      while (i < count) {
        if (rows(i) == null) rows(i) = new UnsafeRow(width)
        pointTo(rows(i), i, if (i + 1 < count) offsets(i + 1) else used)
        i += 1
      }
      if (!inOrder) java.util.Arrays.sort(rows, 0, count, order)
    }
  }

  /** The next row in order, or null after the last. */
  def next(): UnsafeRow =
    if (external != null) {
      if (sorted.hasNext) {
        sorted.loadNext()
        externalRow.pointTo(sorted.getBaseObject, sorted.getBaseOffset, sorted.getRecordLength)
        externalRow
      } else null
    } else if (position < count) {
      position += 1
      rows(position - 1)
    } else null

  private def moveToExternal(): Unit = {
    external = Catalyst.externalSorter(() => new ByRow(order, width))
    val row = new UnsafeRow(width)
    var i = 0
    while (i < count) {
      pointTo(row, i, if (i + 1 < count) offsets(i + 1) else used)
      insertExternal(row)
      i += 1
    }
    used = 0
    count = 0
  }

  private def pointTo(row: UnsafeRow, index: Int, end: Int): Unit =
    row.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET + offsets(index).toLong, end - offsets(index))

  private def insertExternal(row: UnsafeRow): Unit =
    external.insertRecord(row.getBaseObject, row.getBaseOffset, row.getSizeInBytes, 0L, false)
}

object SortedRun {
  private val MaxHeapBytes = 16L << 20

  // An array and its header fill whole regions of the G1 collector.
  private val HeaderBytes = Platform.BYTE_ARRAY_OFFSET
  private val FirstBytes = (1 << 16) - HeaderBytes

  private final class ByRow(order: Ordering[InternalRow], width: Int) extends RecordComparator {
    private val left = new UnsafeRow(width)
    private val right = new UnsafeRow(width)

    override def compare(
        leftObject: Object,
        leftOffset: Long,
        leftLength: Int,
        rightObject: Object,
        rightOffset: Long,
        rightLength: Int): Int = {
      left.pointTo(leftObject, leftOffset, leftLength)
      right.pointTo(rightObject, rightOffset, rightLength)
      order.compare(left, right)
    }
  }
}
