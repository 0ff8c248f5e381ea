package org.apache.spark.sql.winops.input

import java.util.Arrays

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, BoundReference, RowOrdering, SortOrder, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{BinaryType, DataType, LongType}
import org.apache.spark.sql.winops.testing.TaskTest

import winops.spark.input.SortedRun

class SortedRunSuite extends TaskTest {
  import SortedRunSuite._
  import TaskTest.check

  test(
    "rows are given in order, whether they came in order or not, from the heap and beyond it") {
    inTask { _ =>
      val run = newRun()
      for {
        size <- Seq(0, 1, 2, 255, 256, 257, 3000, TooManyForHeap, 10)
        order <- Seq(Ascends, Descends, Shuffled)
      } {
        run.clear()
        feed(run, order(size))
        run.sort(hasOneKey = size % 2 == 0)
        check(run.isOneKey == (size % 2 == 0), "whether it is one key")
        check(drain(run) == (0 until size), s"order of $size rows")
        check(run.next() == null, "nothing after the last row")
      }
      run.clear()
    }
  }

  test("a long run that is not read to its end leaks nothing") {
    inTask { _ =>
      val run = newRun()
      feed(run, Shuffled(TooManyForHeap))
      run.sort(hasOneKey = true)
      check(read(run.next()) == 0, "the first row")
    }
  }

  test("a long run keeps its rows in the task's memory, and gives it back when it is cleared") {
    inTask { context =>
      val memory = context.taskMemoryManager()
      val run = newRun()
      feed(run, Ascends(1000))
      check(memory.getMemoryConsumptionForThisTask == 0, "a short run is on the heap")
      feed(run, Ascends(TooManyForHeap))
      check(memory.getMemoryConsumptionForThisTask > (16L << 20), "a long run is not")
      run.clear()
      check(memory.getMemoryConsumptionForThisTask == 0, "memory is given back")
    }
  }
}

private object SortedRunSuite {
  import TaskTest.check

  /** With half a kilobyte per row, more than 16 MiB. */
  val TooManyForHeap = 40000

  type Numbers = Int => Seq[Int]
  val Ascends: Numbers = 0 until _
  val Descends: Numbers = size => (0 until size).reverse
  val Shuffled: Numbers = size => new Random(size.toLong).shuffle(Ascends(size))

  private val types = Array[DataType](LongType, BinaryType)

  def newRun(): SortedRun = new SortedRun(
    RowOrdering.create(
      Seq(SortOrder(BoundReference(0, LongType, nullable = false), Ascending)),
      Nil),
    types.length)

  def feed(run: SortedRun, numbers: Seq[Int]): Unit =
    numbers.foreach(i => run.add(row(i, if (numbers.size < TooManyForHeap) i % 50 else 500)))

  /** A row in an object that the next row reuses, as in a shuffle. */
  def row(number: Int, bytes: Int): UnsafeRow =
    projection(InternalRow(number.toLong, Array.fill(bytes)(number.toByte)))

  private val projection = UnsafeProjection.create(types)

  def drain(run: SortedRun): Seq[Int] =
    Iterator.continually(run.next()).takeWhile(_ != null).map(read).toVector

  def read(row: UnsafeRow): Int = {
    val number = row.getLong(0).toInt
    val bytes = row.getBinary(1)
    check(Arrays.equals(bytes, Array.fill(bytes.length)(number.toByte)), "a row's bytes")
    number
  }
}
