package org.apache.spark.sql.winops.internal

import org.apache.spark.{SparkEnv, TaskContext}
import org.apache.spark.util.collection.unsafe.sort.{PrefixComparators, RecordComparator, UnsafeExternalSorter}

/** The creation of Spark's external sorter. */
private[internal] object ExternalSorter {

  /** Creates a sorter that allocates from the current task.
    *
    * @param size
    *   the number of records that its array takes at first
    * @param pageBytes
    *   the size of its memory pages in bytes
    * @param maxRows
    *   the number of records in memory from which it spills
    * @param maxBytes
    *   the number of bytes in memory from which it spills
    */
  def create(
      comparator: () => RecordComparator,
      size: Int,
      pageBytes: Long,
      maxRows: Int,
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
      size,
      pageBytes,
      maxRows,
      maxBytes,
      usesRadixSort)
  }
}
