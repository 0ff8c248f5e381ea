package winops.aggregation

import winops.storage.btree.NumberedValues
import winops.storage.bytes.{ByteReader, ByteWriter}

/** Summarizes the suffixes of a window's oldest block, folded newest to oldest.
  *
  * The rows of a block are read for all of its suffixes at once. If few rows leave in a
  * micro-batch, the suffixes of the next [[SuffixSummaries.Stored]] rows are stored, so that the
  * next micro-batches read no rows.
  *
  * @param values
  *   stores the suffixes, in level [[SuffixSummaries.Level]]
  */
private[aggregation] final class SuffixSummaries[S](
    summaries: Summaries[S],
    values: NumberedValues) {
  import SuffixSummaries._

  /** The summaries of the suffixes, by the place of their first row in its block. */
  private val suffixes =
    new Array[Any](FrontSummary.BlockRows.toInt).asInstanceOf[Array[S]]
  private val writer = new ByteWriter

  /** The first rows of the suffixes in memory, all in one block, and of the stored ones. */
  private var first = 0L
  private var end = 0L
  private var storedFirst = 0L
  private var storedEnd = 0L

  /** The summary from `row` to the end of its block; valid until the next call. */
  def from(row: Long): S = {
    val start = FrontSummary.startOfBlock(row)
    if (row < first || row >= end) {
      end = first
      if (row >= storedFirst && row < storedEnd) read(start, row) else make(start, row)
    }
    suffixes((row - start).toInt)
  }

  /** Invalidates the summaries in memory. */
  def clear(): Unit = end = first

  /** Starts with a group of which suffixes from `first` until `end` are stored. */
  def startWith(first: Long, end: Long): Unit = {
    clear()
    storedFirst = first
    storedEnd = end
    if (end > first) values.expect(Level, 0L, 0L)
  }

  /** Stores the suffixes that begin with `row` and the rows behind it, or removes all. */
  def store(row: Long): Unit = if (row < storedFirst || row >= storedEnd) {
    removeStored()
    if (row >= first && row < end) {
      val last = Math.min(row - row % Stored + Stored, end)
      var next = row
      while (next < last && put(next)) next += 1
      storedFirst = row
      storedEnd = next
    }
  }

  def removeStored(): Unit = if (storedEnd > storedFirst) {
    values.clear(Level)
    storedEnd = storedFirst
  }

  /** The number of stored suffixes that begin with `row` and the rows behind it. */
  def storedFrom(row: Long): Long =
    if (row >= storedFirst && row < storedEnd) storedEnd - row else 0L

  private def put(row: Long): Boolean = {
    writer.clear()
    summaries.write(suffixes((row % FrontSummary.BlockRows).toInt), writer)
    val bytes = writer.toArray
    val isShort = bytes.length <= FrontSummary.MaxShort
    if (isShort) values.put(Level, row % Stored, bytes)
    isShort
  }

  private def read(start: Long, row: Long): Unit = {
    val bytes = values.get(Level, row % Stored)
    if (bytes == null) make(start, row)
    else {
      summaries.read(at((row - start).toInt), new ByteReader(bytes))
      first = row
      end = row + 1
    }
  }

  private def make(start: Long, row: Long): Unit = {
    val last = FrontSummary.BlockRows.toInt - 1
    var index = last
    while (start + index >= row) {
      if (index < last) {
        summaries.prepend(at(index), start + index, suffixes(index + 1))
      } else {
        summaries.clear(at(index))
        summaries.add(suffixes(index), start + index)
      }
      index -= 1
    }
    first = row
    end = start + FrontSummary.BlockRows
  }

  private def at(index: Int): S = {
    if (suffixes(index) == null) suffixes(index) = summaries.create()
    suffixes(index)
  }
}

private[aggregation] object SuffixSummaries {
  val Level = 0

  /** The number of suffixes that are stored at a time. A row of the block is read again for about
    * two of its rows.
    */
  val Stored = 8
}
