package winops.spark.state

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.RecordBinaryComparator
import org.apache.spark.sql.winops.internal.{Catalyst, TaskPages}
import org.apache.spark.util.collection.unsafe.sort.{UnsafeExternalSorter, UnsafeSorterIterator}

/** Collects groups, then iterates over them in the order of their ranks, and over those of one
  * rank in the order of their keys' bytes. Returns each group once, however often it was added.
  *
  * Few groups are held on the heap. Further ones go to Spark's external sorter, which takes its
  * memory from the task and spills when memory runs out. Outside of a task, all groups are on the
  * heap.
  *
  * @param width
  *   the number of columns of a group key
  * @param rankOf
  *   the rank of a group's key
  * @param maxBytesOnHeap
  *   the length of the keys in bytes, with a header for each, from which a task uses the sorter
  */
private[state] final class RankedGroups(
    width: Int,
    rankOf: UnsafeRow => Long,
    maxBytesOnHeap: Long = RankedGroups.MaxBytesOnHeap) {
  import RankedGroups._

  private val onHeap = mutable.ArrayBuffer.empty[Ranked]
  private var bytesOnHeap = 0L
  private var sorter: UnsafeExternalSorter = _

  private var sorted: Iterator[Ranked] = _
  private var first: Ranked = _

  /** Adds a group, whose key is copied. No group may have been returned. */
  def add(group: UnsafeRow): Unit = {
    require(sorted == null, "a group is added after others were taken")
    val rank = rankOf(group)
    if (sorter == null) {
      onHeap += Ranked(rank, group.copy())
      bytesOnHeap += HeaderBytes + group.getSizeInBytes
      if (bytesOnHeap > maxBytesOnHeap && TaskPages.isInTask) moveToSorter()
    } else insert(rank, group)
  }

  /** Returns false after the last group. */
  def hasNext: Boolean = {
    if (sorted == null) sort()
    first != null
  }

  /** The group that [[take]] returns next. */
  def head: UnsafeRow = {
    require(hasNext, "no group is left")
    first.group
  }

  /** The rank of [[head]]. */
  def headRank: Long = {
    require(hasNext, "no group is left")
    first.rank
  }

  /** Returns the next group. */
  def take(): UnsafeRow = {
    val taken = head
    advance()
    taken
  }

  private def insert(rank: Long, group: UnsafeRow): Unit =
    sorter
      .insertRecord(group.getBaseObject, group.getBaseOffset, group.getSizeInBytes, rank, false)

  private def moveToSorter(): Unit = {
    sorter = Catalyst.externalSorter(() => byBytes)
    onHeap.foreach(ranked => insert(ranked.rank, ranked.group))
    onHeap.clear()
  }

  private def sort(): Unit = {
    sorted =
      if (sorter != null) fromSorter
      else {
        val all = onHeap.toArray
        onHeap.clear()
        java.util.Arrays.sort(all, ByRank)
        all.iterator
      }
    advance()
  }

  private def fromSorter: Iterator[Ranked] = {
    val records = sorter.getSortedIterator
    val row = new UnsafeRow(width)
    Iterator.continually(nextOf(records, row)).takeWhile(_ != null)
  }

  /** The next record, copied, because the sorter may spill its page; null after the last. */
  private def nextOf(records: UnsafeSorterIterator, row: UnsafeRow): Ranked =
    if (records.hasNext) {
      records.loadNext()
      row.pointTo(records.getBaseObject, records.getBaseOffset, records.getRecordLength)
      Ranked(records.getKeyPrefix, row.copy())
    } else {
      sorter.cleanupResources()
      null
    }

  /** Moves to the next other group. */
  private def advance(): Unit = {
    val before = first
    first = null
    while (first == null && sorted.hasNext) {
      val next = sorted.next()
      if (before == null || next.rank != before.rank || next.group != before.group) first = next
    }
  }
}

private object RankedGroups {

  /** The memory of some thousand groups. */
  val MaxBytesOnHeap: Long = 1L << 20

  /** About the memory of the objects that hold a key of no columns. */
  private val HeaderBytes = 96L

  private final case class Ranked(rank: Long, group: UnsafeRow)

  private val byBytes = new RecordBinaryComparator

  private object ByRank extends java.util.Comparator[Ranked] {
    override def compare(left: Ranked, right: Ranked): Int = {
      val ranks = java.lang.Long.compare(left.rank, right.rank)
      if (ranks != 0) ranks
      else {
        val (one, other) = (left.group, right.group)
        byBytes.compare(
          one.getBaseObject,
          one.getBaseOffset,
          one.getSizeInBytes,
          other.getBaseObject,
          other.getBaseOffset,
          other.getSizeInBytes)
      }
    }
  }
}
