package winops.spark.state

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.array.LongArray
import org.apache.spark.unsafe.memory.MemoryBlock
import org.apache.spark.util.collection.unsafe.sort.RadixSort

/** Iterates over groups in the order of their ranks. Spark's radix sort needs no object for each
  * of the groups.
  *
  * @param rankOf
  *   the rank of a group's key
  */
private[state] final class RankedGroups(groups: Array[UnsafeRow], rankOf: UnsafeRow => Long) {
  // A pair of an index and a rank for each group, and as much room for the sort.
  private val pairs = new LongArray(MemoryBlock.fromLongArray(new Array[Long](4 * groups.length)))
  private var next = {
    groups.indices.foreach { i =>
      pairs.set(2 * i, i.toLong)
      pairs.set(2 * i + 1, rankOf(groups(i)))
    }
    RadixSort
      .sortKeyPrefixArray(
        pairs,
        0,
        groups.length.toLong,
        0,
        java.lang.Long.BYTES - 1,
        false,
        true)
  }
  private val end = next + 2 * groups.length

  /** Returns false after the last group. */
  def hasNext: Boolean = next < end

  /** The group that [[take]] returns next. */
  def head: UnsafeRow = groups(pairs.get(next).toInt)

  /** The rank of [[head]]. */
  def headRank: Long = pairs.get(next + 1)

  /** Returns the next group. */
  def take(): UnsafeRow = {
    val group = head
    next += 2
    group
  }
}
