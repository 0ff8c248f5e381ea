package winops.spark.aggregates

import org.apache.spark.sql.catalyst.expressions._

import winops.spark.expressions.WindowAggregate
import winops.spark.row.{KeyTypes, StoredRows}
import winops.storage.btree.PagedMap
import winops.storage.bytes.{ByteReader, ByteWriter}

/** Counts the distinct values of the rows in a window exactly, by counting the rows of each
  * value.
  *
  * @param arguments
  *   the values; rows with a null among them do not count
  * @param filter
  *   the condition of the rows that count
  * @param content
  *   the columns of a row
  * @param rows
  *   the stored rows
  * @param counts
  *   the number of rows of each value, under the open prefix
  */
private[spark] final class DistinctCounts(
    arguments: Seq[Expression],
    filter: Option[Expression],
    content: Seq[Attribute],
    rows: StoredRows,
    counts: PagedMap) {
  import DistinctCounts._

  private val values = UnsafeProjection.create(arguments.map(KeyTypes.normalized), content)
  private val isCounted = filter.map(Predicate.create(_, content))
  private val row = new UnsafeRow(content.size)
  private val writer = new ByteWriter
  private var prefix = Array.emptyByteArray

  /** Selects the counts under this prefix. No prefix begins with another one. */
  def open(prefix: Array[Byte]): Unit = this.prefix = prefix

  def insert(ordinal: Long): Unit = change(ordinal, 1L)
  def remove(ordinal: Long): Unit = change(ordinal, -1L)

  /** The number of distinct values under the open prefix. */
  def result: Long = countOf(key(Total, Array.emptyByteArray))

  def clear(): Unit = {
    prefix = Array.emptyByteArray
    counts.clear()
  }

  def save(out: ByteWriter): Unit = counts.save(out)

  def restore(in: ByteReader): Unit = {
    prefix = Array.emptyByteArray
    counts.restore(in)
  }

  private def change(ordinal: Long, by: Long): Unit = {
    rows.pointTo(row, ordinal)
    if (isCounted.forall(_.eval(row))) {
      val value = values(row)
      if (!value.anyNull) {
        val of = key(OfValue, value.getBytes)
        val before = countOf(of)
        put(of, before + by)
        if (before == 0 || before + by == 0) {
          val total = key(Total, Array.emptyByteArray)
          put(total, countOf(total) + by)
        }
      }
    }
  }

  private def key(kind: Byte, value: Array[Byte]): Array[Byte] = {
    val key = java.util.Arrays.copyOf(prefix, prefix.length + 1 + value.length)
    key(prefix.length) = kind
    System.arraycopy(value, 0, key, prefix.length + 1, value.length)
    key
  }

  private def countOf(key: Array[Byte]): Long = {
    val bytes = counts.get(key)
    if (bytes == null) 0L else new ByteReader(bytes).count(Long.MaxValue)
  }

  private def put(key: Array[Byte], count: Long): Unit =
    if (count == 0) {
      val _ = counts.remove(key)
    } else {
      writer.clear()
      writer.number(count)
      counts.put(key, writer.toArray)
    }
}

private object DistinctCounts {
  val Total: Byte = 0
  val OfValue: Byte = 1

  /** Returns true if the aggregate is a COUNT(DISTINCT). */
  def canCount(aggregate: WindowAggregate): Boolean =
    aggregate.isDistinct && aggregate.function
      .isInstanceOf[org.apache.spark.sql.catalyst.expressions.aggregate.Count]
}
