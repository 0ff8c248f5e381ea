package winops.aggregation

import winops.log.{ByteReader, ByteWriter, PagedMap}

/** Summaries of blocks of rows, and of blocks of blocks: level 1 is of [[FrontSummary.BlockRows]]
  * rows, and each level above is of as many of those below.
  */
private[aggregation] final class BlockSummaries[S](summaries: Summaries[S], stored: PagedMap) {
  import BlockSummaries._

  private val read = summaries.create()
  private val made = new Array[Any](MaxLevel + 1).asInstanceOf[Array[S]]
  private val writer = new ByteWriter

  /** Appends the rows from `from`, where a block begins, as far towards `until` as whole blocks
    * go; returns the row after them.
    */
  def append(target: S, from: Long, until: Long): Long = {
    var row = from
    while (row + FrontSummary.BlockRows <= until) {
      var level = 1
      while (level < MaxLevel && isWhole(row, level + 1, until)) level += 1
      appendBlock(target, level, row / rowsIn(level))
      row += rowsIn(level)
    }
    row
  }

  /** Forgets the blocks that lie before a row or hold it: what is left of those is no block. */
  def forgetBefore(row: Long): Unit = if (stored.size > 0) {
    var level = 1
    while (level <= MaxLevel && stored.size > 0) {
      val (first, end) = (key(level, 0L), key(level, row / rowsIn(level) + 1))
      while (stored.atLeast(first) && java.util.Arrays.compareUnsigned(stored.key, end) < 0) {
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
