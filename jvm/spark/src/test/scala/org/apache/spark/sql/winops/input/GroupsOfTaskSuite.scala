package org.apache.spark.sql.winops.input

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.winops.testing.{Hoarder, TaskTest}
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.input.GroupedRows
import winops.spark.testing.KeepPlans

class GroupsOfTaskSuite extends TaskTest {
  import GroupsOfTaskSuite._
  import TaskTest.check

  test("the rows of a group come together and in order, few or many") {
    inTask { _ =>
      for {
        count <- Seq(0, 1, 100, 5000, 60000)
        keys <- Seq(1, 7, 20000)
        shuffled <- Seq(false, true)
      } {
        val rows = numbered(count, keys)
        val come = if (shuffled) new Random(count.toLong).shuffle(rows) else rows
        check(read(come, textBytes = 40) == groupsOf(rows), s"$count rows of $keys keys")
      }
    }
  }

  test("rows that exceed the memory of a task come together and in order") {
    inTask { _ =>
      // A task buffers at most a thirteenth of the heap; the sorter gets the rest in several runs.
      val textBytes = 10000
      val rows = numbered((Runtime.getRuntime.maxMemory / 8 / textBytes).toInt, keys = 300)
      Seq(rows, new Random(1).shuffle(rows)).foreach { come =>
        check(read(come, textBytes) == groupsOf(rows), "all rows")
      }
    }
  }

  test("the rows of one group that exceed the memory of a task are sorted once") {
    inTask { context =>
      val textBytes = 10000
      val rows = numbered((Runtime.getRuntime.maxMemory / 8 / textBytes).toInt, keys = 1)
      val groups = grouped(new Random(2).shuffle(rows), textBytes)
      val taken = context.taskMemoryManager().getMemoryConsumptionForThisTask
      check(taken < rows.size * textBytes * 1.3, "no other sorter holds memory")
      check(readGroups(groups) == groupsOf(rows), "all rows")
    }
  }

  test("a row may be larger than what is taken of memory at once") {
    inTask { _ =>
      val rows = numbered(9, keys = 2)
      check(read(rows, textBytes = 5 << 20) == groupsOf(rows), "all rows")
    }
  }

  test("memory is given back on the way, and the rest when a task ends") {
    inTask { context =>
      val memory = context.taskMemoryManager()
      val groups = grouped(numbered(60000, keys = 60000), textBytes = 100)
      val all = memory.getMemoryConsumptionForThisTask
      check(all > 60000 * 100, "rows are held in the task's memory")
      (0 until 50000).foreach(_ => groups.nextGroup())
      check(memory.getMemoryConsumptionForThisTask < all / 2, "most of it is given back")
    }
  }

  test("a page and the header of its array fill whole regions of the collector") {
    inTask { context =>
      val memory = context.taskMemoryManager()
      val groups = grouped(numbered(1, keys = 1), textBytes = 10)
      check(
        memory.getMemoryConsumptionForThisTask + Platform.LONG_ARRAY_OFFSET == 1 << 17,
        "the first page")
      check(groups.nextGroup(), "the group")
    }
  }

  test("rows that find no memory are sorted and spilled") {
    inTask { context =>
      val hoarder = new Hoarder(context.taskMemoryManager())
      val rows = numbered(40000, keys = 300)
      // The first rows are buffered in memory, the later ones are spilled.
      val come = rows.iterator.zipWithIndex.map { case (row, i) =>
        if (i == rows.size / 2) hoarder.takeEverything()
        row
      }
      val groups = ofTask(come, textBytes = 3000)
      check(context.taskMetrics().memoryBytesSpilled > 0, "rows are spilled")
      check(readGroups(groups) == groupsOf(rows), "all rows")
      hoarder.giveBack()
    }
  }
}

private object GroupsOfTaskSuite {
  import TaskTest.check

  import KeepPlans._

  /** A key and the row's number, which is its time and its order. */
  type Numbered = (Long, Long)

  private val plan = KeepPlans.plan(spec("KEEP 10 ROWS"), order = Seq(n))

  def numbered(count: Int, keys: Int): Seq[Numbered] =
    (0 until count).map(i => (i * 31L % keys, i.toLong))

  def groupsOf(rows: Seq[Numbered]): Map[Long, Seq[Long]] =
    rows.groupMap(_._1)(_._2).map { case (key, numbers) => key -> numbers.sorted }

  def ofTask(rows: Iterator[Numbered], textBytes: Int): GroupedRows = {
    // All rows use one object, as rows of a shuffle do.
    val projection = UnsafeProjection.create(input.map(_.dataType).toArray[DataType])
    val text = UTF8String.fromString("x" * textBytes)
    val unsafe = rows.map { case (key, number) =>
      projection(InternalRow(key, number, number, text, number)): InternalRow
    }
    GroupedRows.ofTask(plan, input, unsafe)
  }

  def grouped(rows: Seq[Numbered], textBytes: Int): GroupedRows =
    ofTask(rows.iterator, textBytes)

  def read(rows: Seq[Numbered], textBytes: Int): Map[Long, Seq[Long]] =
    readGroups(grouped(rows, textBytes))

  def readGroups(groups: GroupedRows): Map[Long, Seq[Long]] = {
    val emitted = Seq.newBuilder[(Long, Seq[Long])]
    while (groups.nextGroup()) {
      val rows = Seq.newBuilder[Long]
      while (groups.hasNext) rows += numberOf(groups.next())
      emitted += groups.key.getLong(0) -> rows.result()
    }
    val all = emitted.result()
    check(all.map(_._1).distinct.size == all.size, "a group comes once")
    all.toMap
  }

  private def numberOf(row: UnsafeRow): Long = {
    check(row.getLong(1) == row.getLong(2), "a row's columns")
    row.getLong(2)
  }
}
