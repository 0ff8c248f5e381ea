package org.apache.spark.sql.winops.input

import java.lang.Long.compareUnsigned
import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{BinaryType, DataType, LongType}
import org.apache.spark.sql.winops.testing.{Hoarder, TaskTest}
import org.apache.spark.unsafe.Platform

import winops.spark.input.SpillableHashSorter

class SpillableHashSorterSuite extends TaskTest {
  import SpillableHashSorterSuite._
  import TaskTest.check

  test("rows of equal hashes come together, few or many, and none is lost") {
    inTask { _ =>
      for (count <- Seq(0, 1, 100, 3000, 60000)) {
        val rows = byHash(numbers(count, keys = 1 + count / 7), bytes = 100)
        val read = rows.map(readRow).toVector
        check(read.sorted == (0 until count), s"all of $count rows")
        val keys = read.map(number => keyOf(number, 1 + count / 7))
        val runs = keys.zip(keys.drop(1)).count { case (a, b) => a != b } + 1
        check(count == 0 || runs == keys.distinct.size, s"$count rows of a key come together")
        val hashes = keys.map(key => hashOf(key.toLong))
        check(
          hashes.zip(hashes.drop(1)).forall { case (a, b) => compareUnsigned(a, b) <= 0 },
          s"the hashes of $count rows ascend as unsigned numbers")
        check(!rows.hasNext, "nothing after the last row")
      }
    }
  }

  test("a row may be larger than what is taken of memory at once") {
    inTask { _ =>
      val read = byHash(numbers(6, keys = 2), bytes = 3 << 20).map(readRow).toVector
      check(read.sorted == (0 until 6), "all rows")
    }
  }

  test("memory is given back after the last row, or when a task ends") {
    inTask { context =>
      val memory = context.taskMemoryManager()
      val rows = byHash(numbers(60000, keys = 60000), bytes = 100)
      val all = memory.getMemoryConsumptionForThisTask
      check(all > 60000 * 100, "rows are held in the task's memory")
      rows.foreach(readRow)
      check(memory.getMemoryConsumptionForThisTask == 0, "all of it is given back")
      byHash(numbers(60000, keys = 60000), bytes = 100).take(50000).foreach(readRow)
    }
  }

  test("a page and the header of its array fill whole regions of the collector") {
    inTask { context =>
      val memory = context.taskMemoryManager()
      val rows = byHash(numbers(1, keys = 1), bytes = 10)
      val index = 2L * java.lang.Long.BYTES * (1 << 10)
      check(
        memory.getMemoryConsumptionForThisTask + Platform.LONG_ARRAY_OFFSET - index == 1 << 20,
        "a page")
      rows.foreach(readRow)
    }
  }

  test("rows that do not fit into memory are spilled") {
    inTask { context =>
      val rows = byHash(numbers(20000, keys = 100), bytes = 2000)
      val hoarder = new Hoarder(context.taskMemoryManager())
      hoarder.takeEverything()
      check(context.taskMetrics().memoryBytesSpilled > 0, "rows are spilled")
      check(rows.map(readRow).toVector.sorted == (0 until 20000), "all rows")
      hoarder.giveBack()
    }
  }
}

private object SpillableHashSorterSuite {
  import TaskTest.check

  private val types = Array[DataType](LongType, LongType, BinaryType)

  def keyOf(number: Int, keys: Int): Int = (number * 31) % keys

  def numbers(count: Int, keys: Int): Seq[(Int, Int)] =
    (0 until count).map(i => i -> keyOf(i, keys))

  def byHash(rows: Seq[(Int, Int)], bytes: Int): SpillableHashSorter = {
    // All rows use one object, as rows of a shuffle do.
    val projection = UnsafeProjection.create(types)
    val input = rows.iterator.map { case (number, key) =>
      projection(InternalRow(number.toLong, key.toLong, Array.fill(bytes)(number.toByte)))
    }
    new SpillableHashSorter(input, row => hashOf(row.getLong(1)), types.length)
  }

  /** Multiplies by the golden ratio, which spreads the keys, so that their hashes have all
    * leading bits.
    */
  def hashOf(key: Long): Long = key * 0x9e3779b97f4a7c15L

  def readRow(row: UnsafeRow): Int = {
    val number = row.getLong(0).toInt
    val bytes = row.getBinary(2)
    check(Arrays.equals(bytes, Array.fill(bytes.length)(number.toByte)), "a row's bytes")
    number
  }
}
