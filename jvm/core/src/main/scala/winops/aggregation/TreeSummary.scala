package winops.aggregation

import scala.collection.mutable
import scala.util.control.NoStackTrace

import winops.storage.btree.PagedMap
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}

/** Summarizes a window whose rows enter and leave in any order. The cost of a row grows with the
  * logarithm of the number of rows.
  *
  * The summary is a tree over the rows' numbers. A node of level 1 covers sixteen numbers and has
  * a bit for each number in the window; a node of a higher level covers sixteen nodes. Changes
  * set bits at once; [[settle]] rebuilds the nodes above the changes and removes nodes without
  * rows. A node has no summary if a sum in it, or in a node below it, overflows its type. The
  * head of a window has its size, and the weight of its rows if that is not small.
  *
  * The summary of the window is merged from the nodes of the lowest level that has few nodes;
  * higher levels may exist because the window was longer before. Windows of up to
  * [[WindowSummary.FoldedRows]] rows are folded oldest to newest, and so are all rows if a sum
  * overflows or may overflow by [[Summaries.weight]].
  *
  * One map may hold several windows, each under its own prefix; one window is open at a time.
  *
  * @param stored
  *   the nodes
  * @param isThere
  *   returns true if a row can be read. Of the rows of a node of level 1, all or none can be
  *   read; none can if [[isSummed]] was true and they stay in the window for ever.
  */
final class TreeSummary[S](
    summaries: Summaries[S],
    stored: PagedMap,
    isThere: Long => Boolean = _ => true)
    extends WindowSummary[S] {
  import TreeSummary._

  private var prefix = NodeKey.NoPrefix
  private var levels = 1
  private var size = 0L

  /** The lowest level with few nodes; 0 if unknown. */
  private var top = 0

  private val dirty = mutable.LinkedHashSet.empty[Long]
  private val node = summaries.create()
  private val child = summaries.create()
  private val sum = summaries.create()
  private var isSumKnown = false
  private val weight = new WindowWeight
  private val writer = new ByteWriter

  /** Opens the window with this prefix. No prefix may begin with another. */
  def open(prefix: Array[Byte]): Unit = {
    settle()
    this.prefix = prefix
    top = 0
    isSumKnown = false
    val bytes = stored.get(headKey)
    if (bytes == null) startAfresh() else readHead(new ByteReader(bytes))
  }

  override def insert(from: Long, until: Long): Unit = change(from, until, isIn = true)
  override def remove(from: Long, until: Long): Unit = change(from, until, isIn = false)

  override def isEmpty: Boolean = size == 0

  override def total: S = {
    if (!isSumKnown) {
      // Short windows do not read nodes. Rebuilding nodes now and then still removes empty ones.
      if (dirty.size >= FanOut) settle()
      if (size <= WindowSummary.FoldedRows || !isMergeable || !sumNodes()) foldRows()
      isSumKnown = true
    }
    sum
  }

  /** Returns true if no part of the rows can overflow. */
  private def isMergeable: Boolean = !summaries.areWeighed || weight.isLight(size) || {
    weight.clear()
    eachLeaf { (mask, number) =>
      if (isReadable(mask, number)) eachOf(mask, number)(weighRow)
      else eachOf(mask, number)(_ => weight.add(WindowWeight.OfRow))
    }
    weight.areMergeable
  }

  private def weighRow(row: Long): Unit = weight.add(summaries.weight(row))

  /** Returns true if the rows of a node of level 1 can be read. */
  private def isReadable(mask: Int, number: Long): Boolean =
    mask == 0 || isThere((number << Bits) + Integer.numberOfTrailingZeros(mask))

  /** Sums up the nodes; returns false if a sum overflows. */
  private def sumNodes(): Boolean = {
    settle()
    if (top == 0) top = lowestWithFewNodes
    summaries.clear(sum)
    try {
      appendNodes(sum, top, 0L, Long.MaxValue)
      !summaries.isOverflowed(sum)
    } catch {
      case _: ArithmeticException => false
    }
  }

  private def foldRows(): Unit = {
    summaries.clear(sum)
    eachLeaf { (mask, number) =>
      // A node whose rows have all left is removed when it is settled.
      if (isReadable(mask, number)) {
        eachOf(mask, number)(summaries.add(sum, _))
      } else {
        val in = new ByteReader(stored.value)
        in.skip(MaskBytes)
        summaries.read(child, in)
        summaries.append(sum, child)
      }
    }
  }

  /** Returns true if the node of level 1 that covers a row has a summary, and its rows have small
    * weights, so that they need not be read again. The changes must be settled.
    */
  def isSummed(row: Long): Boolean = {
    val number = row >> Bits
    val bytes = stored.get(NodeKey.of(prefix, 1, number))
    bytes != null && bytes.length > MaskBytes && (!summaries.areWeighed || {
      val mask = maskOf(bytes)
      var areLight = true
      if (!weight.hasLightRows && isReadable(mask, number)) {
        eachOf(mask, number) { row =>
          if (summaries.weight(row) > WindowWeight.OfRow) areLight = false
        }
      }
      areLight
    })
  }

  override def foreach(visit: Long => Unit): Unit =
    eachLeaf((mask, number) => eachOf(mask, number)(visit))

  /** Visits the nodes of level 1 in order, each with its mask and number. */
  private def eachLeaf(visit: (Int, Long) => Unit): Unit = {
    val end = NodeKey.of(prefix, 2, 0L)
    var more = stored.atLeast(NodeKey.of(prefix, 1, 0L))
    while (more && stored.isBefore(end)) {
      visit(maskOf(stored.value), NodeKey.number(stored.key))
      more = stored.next()
    }
  }

  override def clear(): Unit = {
    dirty.clear()
    prefix = NodeKey.NoPrefix
    stored.clear()
    startAfresh()
  }

  override def save(out: ByteWriter): Unit = stored.save(out)

  override def restore(in: ByteReader): Unit = {
    dirty.clear()
    stored.restore(in)
    prefix = NodeKey.NoPrefix
    open(NodeKey.NoPrefix)
  }

  private def startAfresh(): Unit = {
    levels = 1
    size = 0L
    top = 0
    isSumKnown = false
    weight.clear()
  }

  private def headKey: Array[Byte] = NodeKey.of(prefix, 0, 0L)

  private def readHead(in: ByteReader): Unit = {
    levels = in.count(MaxLevels.toLong).toInt
    size = in.count(Long.MaxValue)
    if (in.remaining > 0) weight.restore(in) else weight.assumeLight(size)
  }

  private def writeHead(): Unit =
    if (size == 0) {
      stored.remove(headKey)
      startAfresh()
    } else {
      writer.clear()
      writer.number(levels.toLong)
      writer.number(size)
      if (summaries.areWeighed && weight.isStored(size)) weight.save(writer)
      stored.put(headKey, writer.toArray)
    }

  private def change(from: Long, until: Long, isIn: Boolean): Unit = {
    var row = from
    while (row < until) {
      val number = row >> Bits
      val end = Math.min(until, (number + 1) << Bits)
      var bits = 0
      while (row < end) {
        bits |= 1 << (row & (FanOut - 1)).toInt
        row += 1
      }
      mark(number, bits, isIn)
    }
    if (isIn && summaries.areWeighed) {
      row = from
      while (row < until) {
        weighRow(row)
        row += 1
      }
    }
    isSumKnown = false
  }

  private def mark(number: Long, bits: Int, isIn: Boolean): Unit = {
    val key = NodeKey.of(prefix, 1, number)
    val bytes = stored.get(key)
    val mask = if (bytes == null) 0 else maskOf(bytes)
    val changed = if (isIn) mask | bits else mask & ~bits
    size += Integer.bitCount(changed) - Integer.bitCount(mask)
    // Writes the mask alone: [[settle]] rebuilds the node's summary before it is read.
    stored.put(key, Array((changed & 0xff).toByte, (changed >> 8).toByte))
    dirty += number
  }

  /** Rebuilds the nodes above all changes. */
  override def settle(): Unit = if (dirty.nonEmpty) {
    var numbers = dirty.toSeq
    dirty.clear()
    numbers.foreach(makeLeaf)
    grow()
    var level = 2
    while (level <= levels) {
      numbers = numbers.map(_ >> Bits).distinct
      numbers.foreach(makeNode(level, _))
      level += 1
    }
    writeHead()
  }

  private def makeLeaf(number: Long): Unit = {
    val key = NodeKey.of(prefix, 1, number)
    val mask = maskOf(stored.get(key))
    if (mask == 0) stored.remove(key)
    else {
      writer.clear()
      writer.byte(mask & 0xff)
      writer.byte(mask >> 8)
      val isSummed = summed(eachOf(mask, number)(summaries.add(node, _)))
      if (isSummed) summaries.write(node, writer)
      stored.put(key, writer.toArray)
    }
  }

  private def makeNode(level: Int, number: Long): Unit = {
    var isThere = true
    val isSummed = summed {
      isThere = appendNodes(node, level - 1, number << Bits, (number + 1) << Bits)
    }
    val key = NodeKey.of(prefix, level, number)
    if (isThere) {
      writer.clear()
      if (isSummed) summaries.write(node, writer)
      stored.put(key, writer.toArray)
    } else stored.remove(key)
  }

  /** Resets `node` and adds to it; returns false if a sum overflows. */
  private def summed(add: => Unit): Boolean = {
    summaries.clear(node)
    try {
      add
      true
    } catch {
      case _: ArithmeticException => false
    }
  }

  private def lowestWithFewNodes: Int = {
    val (first, last) = ends(1)
    var level = 1
    while ((last >> (Bits * (level - 1))) - (first >> (Bits * (level - 1))) >= FanOut) level += 1
    level
  }

  /** Adds levels until the highest has few nodes. */
  private def grow(): Unit = {
    top = lowestWithFewNodes
    while (levels < top) {
      levels += 1
      parentsOf(levels - 1).foreach(makeNode(levels, _))
    }
  }

  /** The numbers of the parents of all nodes of a level. */
  private def parentsOf(level: Int): Seq[Long] = {
    val parents = mutable.LinkedHashSet.empty[Long]
    val end = NodeKey.of(prefix, level + 1, 0L)
    var more = stored.atLeast(NodeKey.of(prefix, level, 0L))
    while (more && stored.isBefore(end)) {
      parents += NodeKey.number(stored.key) >> Bits
      more = stored.next()
    }
    parents.toSeq
  }

  /** The numbers of the first and the last node of a level. */
  private def ends(level: Int): (Long, Long) = {
    val begin = NodeKey.of(prefix, level, 0L)
    val end = NodeKey.of(prefix, level + 1, 0L)
    if (!stored.atLeast(begin) || !stored.isBefore(end)) (0L, 0L)
    else {
      val first = NodeKey.number(stored.key)
      stored.below(end)
      (first, NodeKey.number(stored.key))
    }
  }

  /** Appends the nodes of a level from number `from` until number `until`; returns false if there
    * are none.
    *
    * @throws ArithmeticException
    *   if a node has no summary or a sum overflows
    */
  private def appendNodes(target: S, level: Int, from: Long, until: Long): Boolean = {
    val end =
      if (until == Long.MaxValue) NodeKey.of(prefix, level + 1, 0L)
      else NodeKey.of(prefix, level, until)
    var more = stored.atLeast(NodeKey.of(prefix, level, from))
    var isAny = false
    while (more && stored.isBefore(end)) {
      val in = new ByteReader(stored.value)
      if (level == 1) in.skip(MaskBytes)
      if (in.remaining == 0) throw NoSummary
      summaries.read(child, in)
      summaries.append(target, child)
      isAny = true
      more = stored.next()
    }
    isAny
  }
}

object TreeSummary {

  /** Number of rows that a node of level 1 covers. */
  val RowsOfNode: Int = 16

  /** Stands for the overflow that left a node without a summary. */
  private object NoSummary extends ArithmeticException with NoStackTrace

  private val Bits = 4
  private val FanOut = RowsOfNode
  private val MaskBytes = 2

  /** Number of levels of a tree that covers all row numbers. */
  private val MaxLevels = 16

  private def maskOf(node: Array[Byte]): Int = {
    if (node.length < MaskBytes) {
      throw new CorruptStateException(s"a node of rows has ${node.length} bytes")
    }
    (node(0) & 0xff) | (node(1) & 0xff) << 8
  }

  private def eachOf(mask: Int, number: Long)(visit: Long => Unit): Unit = {
    var bit = 0
    while (bit < FanOut) {
      if ((mask & (1 << bit)) != 0) visit((number << Bits) + bit)
      bit += 1
    }
  }
}
