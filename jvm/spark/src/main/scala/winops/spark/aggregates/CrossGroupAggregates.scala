package winops.spark.aggregates

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}

import winops.aggregation.TreeSummary
import winops.spark.row.{RowBytes, RowShape}
import winops.storage.btree.Pages
import winops.storage.bytes.{ByteReader, ByteWriter, Bytes, CorruptStateException}
import winops.storage.rows.{RowStore, RowTree}

/** The contents of the windows of all groups together, for cross-group aggregates. A row is
  * copied when it is inserted, so that the rows of all groups are in one order, that of their
  * insertion.
  *
  * Rows of a group that is removed without deletes stay in the cross-group contents, as in Esper.
  * They are stored until all rows beside them are such rows or have left; then only their summary
  * is stored.
  *
  * @param content
  *   the columns of a row
  * @param resultsOf
  *   creates the aggregates over these rows
  * @param pages
  *   the storage of the rows and the aggregates
  * @param open
  *   returns the group whose rows are inserted and evicted
  */
final class CrossGroupAggregates(
    content: Seq[Attribute],
    resultsOf: RowTree => GroupAggregates,
    pages: Pages,
    open: () => CrossGroupAggregates.Group)
    extends StepAggregates {
  import CrossGroupAggregates._

  private val rows = new RowTree(pages, withArrival = false, RowShape.of(content))
  private val places = pages.newMap()

  /** The stored rows that stay for ever, by the number of their block; a bit for each row. */
  private val staying = pages.newMap()
  private val results = resultsOf(rows)
  private val row = new UnsafeRow(content.size)
  private val left = mutable.ArrayBuffer.empty[Long]

  /** The number of stored rows that belong to no group any more. */
  def rowsWithoutGroup: Long = rows.size - places.size - left.size

  /** The number of rows inserted and removed since the aggregates were settled. */
  private var unsettled = 0

  override def insert(from: Long, until: Long): Unit = eachOf(from, until) { (ordinal, key) =>
    RowBytes.pointTo(row, open().window, ordinal)
    RowBytes.append(rows, 0L, row)
    val copy = rows.end - 1
    places.put(key, bytes(copy))
    results.insert(copy, copy + 1)
  }

  override def remove(from: Long, until: Long): Unit = eachOf(from, until) { (_, key) =>
    val copy = number(places.get(key))
    places.remove(key)
    results.remove(copy, copy + 1)
    left += copy
  }

  override def visit(visit: (UnsafeRow, UnsafeRow) => Unit): Unit = results.visit(visit)

  override def release(): Unit = {
    if (left.nonEmpty) {
      left.foreach(rows.remove)
      if (staying.size > 0) dropWhole(left)
      left.clear()
    }
    if (unsettled > MostUnsettled) settle()
  }

  /** Forgets which rows were those of a group that is removed without deletes. */
  def forget(group: UnsafeRow): Unit = {
    val prefix = GroupAggregates.prefixOf(group.getBytes)
    def isThere = places.atLeast(prefix) &&
      java.util.Arrays.mismatch(places.key, prefix) == prefix.length
    val stay = mutable.ArrayBuffer.empty[Long]
    while (isThere) {
      val copy = number(places.value)
      places.remove()
      val key = bytes(java.lang.Long.reverseBytes(copy / BlockRows))
      val mask = staying.get(key)
      staying.put(key, bytes((if (mask == null) 0L else number(mask)) | 1L << copy % BlockRows))
      stay += copy
      if (stay.size == MostUnsettled) {
        dropWhole(stay)
        stay.clear()
      }
    }
    dropWhole(stay)
  }

  /** Removes the stored rows of blocks in which all rows stay for ever.
    *
    * @param changed
    *   rows in the blocks
    */
  private def dropWhole(changed: mutable.ArrayBuffer[Long]): Unit =
    changed.iterator.map(_ / BlockRows).distinct.foreach { block =>
      val first = block * BlockRows
      val key = bytes(java.lang.Long.reverseBytes(block))
      val mask = staying.get(key)
      if (mask != null && rows.end >= first + BlockRows) {
        val stored = (first until first + BlockRows).filter(rows.contains)
        if (stored.forall(row => (number(mask) >> row % BlockRows & 1) == 1)) {
          settle()
          if (stored.nonEmpty && !results.needsRow(first)) {
            stored.foreach(rows.remove)
            staying.remove(key)
          }
        }
      }
    }

  override def clear(): Unit = {
    left.clear()
    rows.clear()
    places.clear()
    staying.clear()
    results.clear()
  }

  override def settle(): Unit = {
    results.settle()
    unsettled = 0
  }

  override def save(out: ByteWriter): Unit = {
    rows.save(out)
    places.save(out)
    results.save(out)
    staying.save(out)
  }

  override def restore(in: ByteReader): Unit = {
    left.clear()
    rows.restore(in)
    places.restore(in)
    results.restore(in)
    staying.restore(in)
  }

  private def eachOf(from: Long, until: Long)(visit: (Long, Array[Byte]) => Unit): Unit = {
    val group = GroupAggregates.prefixOf(open().key.getBytes)
    var ordinal = from
    while (ordinal < until) {
      val key = java.util.Arrays.copyOf(group, group.length + java.lang.Long.BYTES)
      Bytes.putLong(key, group.length, java.lang.Long.reverseBytes(ordinal))
      visit(ordinal, key)
      unsettled += 1
      ordinal = open().window.next(ordinal)
    }
  }
}

object CrossGroupAggregates {

  /** The number of changed rows up to which the aggregates note on the heap what to settle. */
  private val MostUnsettled = 1 << 14

  /** The number of rows that the aggregates summarize together. */
  private val BlockRows = TreeSummary.RowsOfNode.toLong

  /** A group whose window contents are part of the cross-group contents. */
  trait Group {
    def key: UnsafeRow
    def window: RowStore
  }

  private def bytes(number: Long): Array[Byte] = {
    val bytes = new Array[Byte](java.lang.Long.BYTES)
    Bytes.putLong(bytes, 0, number)
    bytes
  }

  private def number(bytes: Array[Byte]): Long =
    if (bytes != null && bytes.length == java.lang.Long.BYTES) Bytes.getLong(bytes, 0)
    else throw new CorruptStateException("a row of a group is not among those of all groups")
}
