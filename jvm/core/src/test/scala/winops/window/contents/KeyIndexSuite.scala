package winops.window.contents

import java.nio.ByteBuffer

import org.scalatest.funsuite.AnyFunSuite

import winops.storage.btree.{PageMemory, Pages}
import winops.storage.bytes.HeapSegments
import winops.storage.rows.{PatchedRowLog, RowLog}
import winops.window.expression.WindowView

class KeyIndexSuite extends AnyFunSuite {
  private val Count = 500

  private class Rows(hashOf: Array[Byte] => Long, lengthOfKeys: Int) {
    private val segments = new HeapSegments
    private val pages = new Pages(segments, new PageMemory(1L << 20))
    val log = new PatchedRowLog(new RowLog(segments, false), pages, withArrival = false)
    val entries = pages.newMap()
    val index = new KeyIndex((row: Long) => keyOf(row), log, entries, hashOf)
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

  test("long keys with one hash are told apart") {
    val rows = new Rows(_ => 7L, lengthOfKeys = 40)
    (0 until Count).foreach(rows.insert)
    assert(rows.entries.size > 0)
    (0 until Count).foreach { key =>
      assert(rows.find(key) == key)
      rows.log.takeBack()
    }
  }

  test("an emptied group has no entries, and its keys may come again") {
    val rows = new Rows(_ => fail("short keys are stored as they are"), lengthOfKeys = 8)
    (0 until Count).foreach(rows.insert)
    (0 until Count).foreach(row => rows.log.remove(row.toLong))
    rows.index.settle(rows.log.size)
    assert(rows.entries.size == 0)
    (0 until Count).foreach(rows.insert)
    assert(rows.find(3) == Count + 3)
  }
}
