package winops.aggregation

import scala.collection.mutable

import winops.log.{ByteReader, ByteWriter, PagedMap}

/** Summaries of blocks of rows, and of blocks of blocks: level 1 is of [[FrontSummary.BlockRows]]
  * rows, and each level above is of as many of those below.
  */
private[aggregation] final class BlockSummaries[S](summaries: Summaries[S], stored: PagedMap) {
  import BlockSummaries._

  private val read = summaries.create()
  private val made = new Array[Any](MaxLevel + 1).asInstanceOf[Array[S]]
  private val writer = new ByteWriter

  /** The stretch from each of these rows until a common end, in the group that is open, and what
    * has come behind that since, in whole blocks until `behindEnd`.
    */
  private val starts = mutable.ArrayBuffer.empty[Long]
  private val suffixes = mutable.ArrayBuffer.empty[S]
  private val behind = summaries.create()
  private var behindEnd = 0L

  /** Appends the rows from `from`, where a block begins, as far towards `until` as whole blocks
    * go; returns the row after them. As long as it is asked for later rows each time, that costs
    * the same for any number of blocks.
    */
  def append(target: S, from: Long, until: Long): Long = {
    var place = starts.search(from).insertionPoint
    if (place == starts.size || starts(place) != from) {
      build(from, until)
      place = 0
    }
    while (behindEnd + FrontSummary.BlockRows <= until) {
      appendBlock(behind, 1, behindEnd / FrontSummary.BlockRows)
      behindEnd += FrontSummary.BlockRows
    }
    if (starts.nonEmpty) summaries.append(target, suffixes(place))
    summaries.append(target, behind)
    behindEnd
  }

  /** Starts with another group. */
  def clear(): Unit = starts.clear()

  private def build(from: Long, until: Long): Unit = {
    val levels = mutable.ArrayBuffer.empty[Int]
    starts.clear()
    var row = from
    while (row + FrontSummary.BlockRows <= until) {
      var level = 1
      while (level < MaxLevel && isWhole(row, level + 1, until)) level += 1
      starts += row
      levels += level
      row += rowsIn(level)
    }
    behindEnd = row
    while (suffixes.size < starts.size) suffixes += summaries.create()
    var i = starts.size - 1
    while (i >= 0) {
      summaries.clear(suffixes(i))
      appendBlock(suffixes(i), levels(i), starts(i) / rowsIn(levels(i)))
      if (i + 1 < starts.size) summaries.append(suffixes(i), suffixes(i + 1))
      i -= 1
    }
    summaries.clear(behind)
  }

  /** Forgets the blocks that lie before a row or hold it: what is left of those is no block. */
  def forgetBefore(row: Long): Unit = if (stored.size > 0) {
    var level = 1
    while (level <= MaxLevel && stored.size > 0) {
      val (first, end) = (key(level, 0L), key(level, row / rowsIn(level) + 1))
      while (stored.atLeast(first) && stored.isBefore(end)) {
        stored.remove(stored.key)
      }
      level += 1
    }
  }

  private def isWhole(row: Long, level: Int, until: Long): Boolean =
    row % rowsIn(level) == 0 && row + rowsIn(level) <= until

  private def appendBlock(target: S, level: Int, number: Long): Unit = {
    val bytes = stored.get(key(level, number))
    if (bytes != null) {
      summaries.read(read, new ByteReader(bytes))
      summaries.append(target, read)
    } else summaries.append(target, make(level, number))
  }

  private def make(level: Int, number: Long): S = {
    if (made(level) == null) made(level) = summaries.create() else summaries.clear(made(level))
    val block = made(level)
    var i = 0L
    while (i < FrontSummary.BlockRows) {
      val part = number * FrontSummary.BlockRows + i
      if (level == 1) summaries.add(block, part) else appendBlock(block, level - 1, part)
      i += 1
    }
    writer.clear()
    summaries.write(block, writer)
    stored.put(key(level, number), writer.toArray)
    block
  }
}

private object BlockSummaries {

  /** Blocks of so high a level have more rows than a group may have. */
  val MaxLevel = 4

  /** More rows than any machine can hold. */
  val MaxRows: Long = 1L << 40

  def rowsIn(level: Int): Long = {
    var rows = 1L
    var i = 0
    while (i < level) {
      rows *= FrontSummary.BlockRows
      i += 1
    }
    rows
  }

  def key(level: Int, number: Long): Array[Byte] = NodeKey.of(NodeKey.NoPrefix, level, number)
}
