package winops.window.contents

import java.nio.ByteBuffer
import java.util.Arrays

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import winops.storage.btree.{PageMemory, Pages}
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException, HeapSegments, Segments}
import winops.storage.rows.{PatchedRowLog, RowLog, Rows}
import winops.testing.Longer
import winops.window.expression.WindowView

class KeyIndexSuite extends AnyFunSuite {
  import KeyIndexSuite._

  for ((name, hashOf) <- Hashes; (memory, i) <- Seq(0L, 1L << 14, 1L << 20).zipWithIndex) {
    test(
      s"random rows are found by their keys, over restarts: $name, $memory bytes of memory",
      Longer.unless(name != "one hash" || memory > 0): _*) {
      val random = new Random(11 + i)
      val sizes = KeyIndex.Sizes(
        newest = 4 + random.nextInt(8),
        least = 3,
        behind = 12,
        runs = 2 + random.nextInt(3),
        part = 1 + random.nextInt(8),
        removed = random.nextInt(20))
      checkRandom(random, new Group(hashOf, sizes, memory), operations = 6000, keys = 400)
    }
  }

  test("a group of thousands of rows grows, shrinks to a few, and grows again") {
    checkRandom(new Random(7), new Group(), operations = 60000, keys = 12000)
  }

  test("an emptied group has no blocks, and its keys may come again") {
    val group = new Group()
    (0 until Count).foreach(group.insert)
    group.restart()
    assert(group.blocks > 0)
    (0 until Count).foreach(row => group.log.remove(row.toLong))
    group.index.settle(group.log.size)
    group.restart()
    assert(group.blocks == 0)
    (0 until Count).foreach(group.insert)
    assert(group.find(3) == Count + 3)
  }

  test("a row costs few bytes in windows of any length, and a key is found in few blocks") {
    for ((count, written, read) <- Seq((100, 8, 900), (1000, 15, 2600), (10000, 20, 8400))) {
      bounded(count, written, read)
    }
  }

  test("a row costs few bytes in a window of a million rows", Longer) {
    bounded(1000000, mostWritten = 36, mostRead = 20000)
  }

  test("the pairs of rows that have left are few, also if rows leave oldest first") {
    for (count <- Seq(400, 3500)) {
      val group = new Group()
      (0 until 12 * count).foreach { i =>
        if (i >= count) group.log.remove(i.toLong - count)
        group.insert(i * 0x9e3779b9)
        if (i % 64 == 0) {
          group.restart()
          assert(group.segments.bytes < (3 * count + 512) * 8L)
        }
      }
    }
  }

  test("rows that leave soon, beside many that stay, are not read again and again") {
    val group = new Group()
    (0 until 10 * Count).foreach(group.insert)
    group.restart()
    val calls = (0 until 4 * Count).map { i =>
      group.insert(100 * Count + i)
      group.restart()
      group.calls {
        group.remove(group.find(100 * Count + i))
      }
    }
    assert(calls.max < 600)
  }

  test("keys that are deleted and inserted again and again have few pairs each") {
    val group = new Group()
    (0 until 40 * Count).foreach(group.insert)
    val random = new Random(3)
    val calls = (0 until 20 * Count).map { i =>
      val key = random.nextInt(100)
      group.remove(group.find(key))
      if (i % 1000 == 0) group.restart()
      group.calls(group.insert(key))
    }
    assert(calls.sum < calls.size * 60L)
  }

  test("a damaged number of blocks is an error before any entry is removed") {
    val group = new Group()
    (0 until Count).foreach(group.insert)
    group.restart()
    val blocks = group.index.length
    group.restoreIndex(blocks + 1)
    intercept[CorruptStateException](group.index.clear())
    assert(group.blocks == blocks)
    intercept[CorruptStateException](group.restoreIndex(2L * Count + 1))
  }

  test("a damaged number of pairs is an error") {
    val group = new Group()
    (0 until Count).foreach(group.insert)
    group.restart()
    val out = new ByteWriter
    (1L until group.index.length).foreach { i =>
      new KeyRun(i - 1, bits = 0, count = Long.MaxValue, last = 0L).write(out)
    }
    group.segments.put(FirstBlock + group.index.length - 1, out.toArray)
    intercept[CorruptStateException](group.find(0))
  }

  /** Fills a window of the newest rows, whose keys never come twice, and asserts the bytes that a
    * row writes over some times its length, and what a key reads after a restart.
    */
  private def bounded(count: Int, mostWritten: Int, mostRead: Int): Unit = {
    val group = new Group()
    val key = (i: Int) => i * 0x9e3779b9
    def insert(i: Int): Unit = {
      if (i >= count) group.log.remove(i.toLong - count)
      group.insert(key(i))
      if (i % 8 == 0) group.restart()
    }
    (0 until count).foreach(insert)
    group.segments.start()
    val rows = Math.max(2 * count, 20000)
    (count until count + rows).foreach(insert)
    val written = group.segments.written.toDouble / rows
    assert(written < mostWritten, s"bytes of blocks in a window of $count rows")
    val reads = (0 until 100).map { i =>
      group.restart()
      group.segments.start()
      insert(count + rows + i)
      group.segments.read.toDouble
    }
    info(f"$count rows: $written%.1f bytes a row, ${reads.sum / reads.size}%.0f bytes read")
    assert(reads.sum / reads.size < mostRead)
  }

  private def checkRandom(random: Random, group: Group, operations: Int, keys: Int): Unit = {
    val held = mutable.LinkedHashMap.empty[Int, Long]
    var most = 0L
    (0 until operations).foreach { i =>
      val grows = i * 3 / operations != 1
      val key = if (grows || held.isEmpty) random.nextInt(keys) else held.head._1
      val found = group.find(key)
      assert(found == held.getOrElse(key, WindowView.NoRow))
      if (found == WindowView.NoRow) {
        held.update(key, group.log.end - 1)
        group.index.add(group.log.end - 1)
        group.index.settle(group.log.size)
      } else if (!grows || random.nextInt(4) == 0) {
        held.remove(key)
        group.remove(found)
      } else group.log.takeBack()
      most = Math.max(most, group.log.size)
      if (random.nextInt(operations / 100) == 0) {
        group.restart()
        assert(group.blocks == group.index.length)
      }
    }
    assert(most > keys / 3)
  }
}

private object KeyIndexSuite {
  private val Count = 500

  private val Hashes: Seq[(String, Array[Byte] => Int)] = Seq(
    "different hashes" -> (key => Arrays.hashCode(key) * 0x9e3779b9),
    "few hashes" -> (key => (Arrays.hashCode(key) % 5) * 0x39e3779b),
    "one hash" -> (_ => -7))

  private val FirstBlock = 1L << 57 | 1L << 56

  /** True if the segment with this number is a block of an index. */
  private def isBlock(number: Long): Boolean = number >= FirstBlock && number < (1L << 58)

  /** Counts the blocks, their bytes that are written, and all bytes that are read. */
  private final class CountedSegments extends Segments {
    private val stored = new HeapSegments
    private val ofIndex = mutable.Set.empty[Long]
    var written = 0L
    var read = 0L

    def blocks: Int = ofIndex.size

    /** The number of bytes of the blocks. */
    def bytes: Long = ofIndex.iterator.map(stored.get(_).length.toLong).sum

    def start(): Unit = {
      written = 0L
      read = 0L
    }

    override def get(number: Long): Array[Byte] = {
      val bytes = stored.get(number)
      if (isBlock(number) && bytes != null) read += bytes.length
      bytes
    }

    override def put(number: Long, bytes: Array[Byte]): Unit = {
      if (isBlock(number)) {
        ofIndex += number
        written += BytesOfKey + bytes.length
      }
      stored.put(number, bytes)
    }

    override def remove(number: Long): Unit = {
      if (isBlock(number)) {
        ofIndex -= number
        written += BytesOfKey
      }
      stored.remove(number)
    }
  }

  /** About the number of bytes of the key of an entry. */
  private val BytesOfKey = 20

  private final class CountedRows(rows: Rows) extends Rows {
    var calls = 0

    private def counted[T](call: => T): T = {
      calls += 1
      call
    }

    override def end: Long = rows.end
    override def first: Long = rows.first
    override def next(ordinal: Long): Long = counted(rows.next(ordinal))
    override def previous(ordinal: Long): Long = counted(rows.previous(ordinal))
    override def contains(ordinal: Long): Boolean = counted(rows.contains(ordinal))
    override def arrival(ordinal: Long): Long = counted(rows.arrival(ordinal))
    override def release(until: Long): Unit = rows.release(until)
    override def remove(ordinal: Long): Unit = rows.remove(ordinal)
    override def takeBack(): Unit = rows.takeBack()
  }

  private final class Group(
      hashOf: Array[Byte] => Int = Hashes.head._2,
      sizes: KeyIndex.Sizes = KeyIndex.Sizes(),
      memory: Long = 1L << 20) {
    val segments = new CountedSegments
    private val pages = new Pages(segments, new PageMemory(memory))
    val log = new PatchedRowLog(new RowLog(segments, false), pages, withArrival = false)
    private val counted = new CountedRows(log)
    val index =
      new KeyIndex((row: Long) => keyOf(row), counted, pages.newBlocks(), hashOf, sizes)
    pages.clear()
    log.clear()
    index.clear()

    /** The number of stored blocks, if the group has just been stored. */
    def blocks: Int = segments.blocks

    /** The number of calls of the rows. */
    def calls(of: => Unit): Int = {
      counted.calls = 0
      of
      counted.calls
    }

    /** Appends a row with this key, and returns the number of the row that has it. */
    def find(key: Int): Long = {
      val bytes = ByteBuffer.allocate(8).putInt(key).array
      val at = log.append(0L, bytes.length)
      System.arraycopy(bytes, 0, log.target, at, bytes.length)
      index.find(log.end - 1)
    }

    /** Removes a row instead of the one that was appended last. */
    def remove(row: Long): Unit = {
      log.takeBack()
      log.remove(row)
      index.settle(log.size)
    }

    def insert(key: Int): Unit = {
      assert(find(key) == WindowView.NoRow)
      index.add(log.end - 1)
      index.settle(log.size)
    }

    /** Stores the group and reads it again. */
    def restart(): Unit = {
      val out = new ByteWriter
      pages.save(out)
      log.save(out)
      index.save(out)
      val in = new ByteReader(out.toArray)
      pages.restore(in)
      log.restore(in)
      index.restore(in)
      assert(in.remaining == 0)
    }

    /** Reads the index as if so many blocks were stored. */
    def restoreIndex(blocks: Long): Unit = {
      val out = new ByteWriter
      out.number(0L)
      out.number(blocks)
      index.restore(new ByteReader(out.toArray))
    }

    private def assert(holds: Boolean): Unit = Predef.assert(holds)

    private def keyOf(row: Long): Array[Byte] = {
      log.find(row)
      log.rowBytes.slice(log.rowPosition, log.rowPosition + log.rowLength)
    }
  }
}
