package winops.window.contents

import java.nio.ByteBuffer
import java.util.Arrays

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import winops.storage.btree.{PageMemory, Pages}
import winops.storage.bytes.{ByteReader, ByteWriter, HeapSegments}
import winops.storage.rows.{PatchedRowLog, RowLog}
import winops.window.expression.WindowView

class KeyIndexSuite extends AnyFunSuite {
  private val Count = 500

  private class Rows(hashOf: Array[Byte] => Int, lengthOfKeys: Int) {
    private val segments = new HeapSegments
    private val pages = new Pages(segments, new PageMemory(1L << 20))
    val log = new PatchedRowLog(new RowLog(segments, false), pages, withArrival = false)
    val index = new KeyIndex((row: Long) => keyOf(row), log, pages.newBlocks(), hashOf)
    pages.clear()
    log.clear()
    index.clear()

    /** Appends a row with this key, and returns the number of the row that has it. */
    def find(key: Int): Long = {
      val bytes = ByteBuffer.allocate(lengthOfKeys).putInt(key).array
      val at = log.append(0L, bytes.length)
      System.arraycopy(bytes, 0, log.target, at, bytes.length)
      index.find(log.end - 1)
    }

    def remove(row: Long): Unit = {
      log.takeBack()
      log.remove(row)
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

    def insert(key: Int): Unit = {
      assert(find(key) == WindowView.NoRow)
      index.add(log.end - 1)
      index.settle(log.size)
    }

    private def keyOf(row: Long): Array[Byte] = {
      log.find(row)
      log.rowBytes.slice(log.rowPosition, log.rowPosition + log.rowLength)
    }
  }

  test("keys with one hash are told apart") {
    val rows = new Rows(_ => 7, lengthOfKeys = 40)
    (0 until Count).foreach(rows.insert)
    assert(rows.index.size > 0)
    (0 until Count).foreach { key =>
      assert(rows.find(key) == key)
      rows.log.takeBack()
    }
  }

  test("an emptied group has no entries, and its keys may come again") {
    val rows = new Rows(Arrays.hashCode(_), lengthOfKeys = 8)
    (0 until Count).foreach(rows.insert)
    (0 until Count).foreach(row => rows.log.remove(row.toLong))
    rows.index.settle(rows.log.size)
    assert(rows.index.size == 0)
    (0 until Count).foreach(rows.insert)
    assert(rows.find(3) == Count + 3)
  }

  test("random rows are found by their keys, over restarts, while a group grows and shrinks") {
    val random = new Random(11)
    val rows = new Rows(Arrays.hashCode(_) * 0x9e3779b9, lengthOfKeys = 12)
    val held = mutable.LinkedHashMap.empty[Int, Long]
    var most = 0L
    (0 until 60000).foreach { i =>
      // The group grows to thousands of rows, shrinks to a few, and grows again.
      val grows = i / 20000 % 2 == 0
      val key = if (grows || held.isEmpty) random.nextInt(12000) else held.head._1
      val found = rows.find(key)
      assert(found == held.getOrElse(key, WindowView.NoRow))
      if (found == WindowView.NoRow) {
        held.update(key, rows.log.end - 1)
        rows.index.add(rows.log.end - 1)
        rows.index.settle(rows.log.size)
      } else if (!grows || random.nextInt(4) == 0) {
        held.remove(key)
        rows.remove(found)
      } else rows.log.takeBack()
      most = Math.max(most, rows.log.size)
      assert(rows.index.size <= 3 * rows.log.size + 1024)
      if (random.nextInt(500) == 0) rows.restart()
    }
    assert(most > 5000)
  }
}
