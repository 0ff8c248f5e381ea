package org.apache.spark.sql.winops.internal

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.types.{DataType, StringType, StructType}
import org.apache.spark.util.collection.unsafe.sort.{RecordComparator, UnsafeExternalSorter}

/** Gives access to functions that Spark restricts to its own packages. */
object Catalyst {
  private val InitialSortEntries = 1 << 10

  /** Unifies -0.0 with 0.0, and all NaN values, as GROUP BY does. */
  def normalizeFloatingNumbers(expression: Expression): Expression =
    NormalizeFloatingNumbers.normalize(expression)

  /** Returns true if a type or a type within it satisfies a condition. */
  def exists(dataType: DataType)(condition: DataType => Boolean): Boolean =
    dataType.existsRecursively(condition)

  /** Returns a type in which the function has replaced types, also nested ones. */
  def transform(dataType: DataType)(replace: PartialFunction[DataType, DataType]): DataType =
    dataType.transformRecursively(replace)

  /** Returns true if strings of the type sort by their bytes. */
  def sortsByBytes(text: StringType): Boolean = text.supportsBinaryOrdering

  /** Returns the type with everything in it nullable. The bytes of a row do not change. */
  def asNullable(columns: StructType): StructType = columns.asNullable

  /** Returns the type with everything in it nullable. */
  def asNullable(dataType: DataType): DataType = dataType.asNullable

  /** Creates a sorter that allocates from the current task, and spills if there is no more
    * memory.
    */
  def externalSorter(comparator: () => RecordComparator): UnsafeExternalSorter =
    externalSorter(
      comparator,
      TaskContext.get().taskMemoryManager().pageSizeBytes(),
      Long.MaxValue,
      usesRadixSort = false)

  /** Creates a sorter of records that are ordered by their prefixes alone.
    *
    * @param pageBytes
    *   the size of its memory pages in bytes
    * @param maxBytes
    *   the number of bytes in memory from which it spills even if memory is left
    */
  def externalSorter(pageBytes: Long, maxBytes: Long): UnsafeExternalSorter =
    externalSorter(() => AllEqual, pageBytes, maxBytes, usesRadixSort = true)

  private def externalSorter(
      comparator: () => RecordComparator,
      pageBytes: Long,
      maxBytes: Long,
      usesRadixSort: Boolean): UnsafeExternalSorter =
    ExternalSorter.create(
      comparator,
      InitialSortEntries,
      pageBytes,
      TaskPages.maxRows,
      maxBytes,
      usesRadixSort)

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
