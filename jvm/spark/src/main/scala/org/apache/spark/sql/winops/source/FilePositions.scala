package org.apache.spark.sql.winops.source

import org.apache.spark.rdd.InputFileBlockHolder
import org.apache.spark.unsafe.types.UTF8String

/** The positions of the rows of one task, which come while their files are being read. A position
  * is the number of the piece of a file, and behind it that of the row within the piece.
  */
private[winops] final class FilePositions(splits: FileSplits) {
  private var file: UTF8String = _
  private var position = 0L

  /** The position of the row that has just been read. */
  def next(): Long = if (splits.isEmpty) 0L else numbered()

  private def numbered(): Long = {
    // Each piece that is opened has another object.
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
