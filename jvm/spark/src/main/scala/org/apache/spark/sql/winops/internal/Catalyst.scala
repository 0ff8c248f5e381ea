package org.apache.spark.sql.winops.internal

import org.apache.spark.{SparkEnv, TaskContext}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.types.{DataType, StringType, StructType}
import org.apache.spark.util.collection.unsafe.sort.{PrefixComparators, RecordComparator, UnsafeExternalSorter}

/** What winops needs of Spark and Spark shows only to its own packages. */
object Catalyst {
  private val InitialSortEntries = 1 << 10

  /** Makes -0.0 and 0.0 one value, and all NaN one value, as GROUP BY has them. */
  def normalizeFloatingNumbers(expression: Expression): Expression =
    NormalizeFloatingNumbers.normalize(expression)

  /** Returns true if a type or a type within it satisfies a condition. */
  def exists(dataType: DataType)(condition: DataType => Boolean): Boolean =
    dataType.existsRecursively(condition)

  /** Whether strings of the type are in the order of their bytes. */
  def sortsByBytes(text: StringType): Boolean = text.supportsBinaryOrdering

  /** The type with everything in it nullable, which changes no byte of a row. */
  def asNullable(columns: StructType): StructType = columns.asNullable

  /** A sorter that takes its memory from the current task, and spills when it gets no more. */
  def externalSorter(comparator: () => RecordComparator): UnsafeExternalSorter =
    externalSorter(
      comparator,
      TaskContext.get().taskMemoryManager().pageSizeBytes(),
      Long.MaxValue,
      usesRadixSort = false)

  /** As the other, of records whose prefixes say all about their order.
    *
    * @param pageBytes
    *   how much memory it takes at once
    * @param maxBytes
    *   how much it holds before it spills though there is memory left
    */
  def externalSorter(pageBytes: Long, maxBytes: Long): UnsafeExternalSorter =
    externalSorter(() => AllEqual, pageBytes, maxBytes, usesRadixSort = true)

  private def externalSorter(
      comparator: () => RecordComparator,
      pageBytes: Long,
      maxBytes: Long,
      usesRadixSort: Boolean): UnsafeExternalSorter = {
    val context = TaskContext.get()
    val env = SparkEnv.get
    UnsafeExternalSorter.create(
      context.taskMemoryManager(),
      env.blockManager,
      env.serializerManager,
      context,
      () => comparator(),
      PrefixComparators.LONG,
      InitialSortEntries,
      pageBytes,
      TaskPages.maxRows,
      maxBytes,
      usesRadixSort)
  }

  private object AllEqual extends RecordComparator {
    override def compare(
        leftObject: Object,
        leftOffset: Long,
        leftLength: Int,
        rightObject: Object,
        rightOffset: Long,
        rightLength: Int): Int = 0
  }
}
