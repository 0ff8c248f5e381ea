package org.apache.spark.sql.winops.source

import org.apache.spark.rdd.InputFileBlockHolder
import org.apache.spark.unsafe.types.UTF8String

/** Computes the positions of the rows of one task while it reads their files. The high bits of a
  * position are the number of the file split, the low bits the number of the row within it.
  */
private[winops] final class FilePositions(splits: FileSplits) {
  private var file: UTF8String = _
  private var position = 0L

  /** Returns the position of the row that was read last. */
  def next(): Long = if (splits.isEmpty) 0L else numbered()

  private def numbered(): Long = {
    // Spark creates a new path object for each split that it opens.
    val current = InputFileBlockHolder.getInputFilePath
    if (current ne file) {
      file = current
      val piece = splits.numberOf(current, InputFileBlockHolder.getStartOffset)
      position = piece.toLong << FilePositions.RowBits
    } else position += 1
    position
  }
}

private object FilePositions {
  private val RowBits = 33
}
