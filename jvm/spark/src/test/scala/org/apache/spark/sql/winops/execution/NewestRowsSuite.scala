package org.apache.spark.sql.winops.execution

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.winops.testing.{Hoarder, TaskTest}
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.execution.NewestRowsOfTask
import winops.spark.input.GroupedRows
import winops.spark.plan.Output
import winops.spark.testing.{Arrived, KeepPlans}

class NewestRowsSuite extends TaskTest {
  import NewestRowsSuite._
  import TaskTest.check

  test("the newest rows of each group are among those given, each once, however they come") {
    inTask { _ =>
      for (count <- Seq(0, 100, 60000); keys <- Seq(1, 900, 20000)) {
        val arrivals = new Arrivals(numbered(count, keys))
        ways.foreach { case (way, come) =>
          val left = pruned(come(arrivals.rows).iterator, textBytes = 40)
          arrivals.check(left, s"$count rows of $keys keys, $way")
          if (count == 60000 && keys < 1000) check(left.size < count / 4, s"few are given, $way")
        }
      }
    }
  }

  test("after the shuffle a task drops rows that are not among the newest, and no others") {
    inTask { _ =>
      for (keys <- Seq(1, 7, 900)) {
        val rows = numbered(60000, keys)
        val newest = newestOf(rows)
        ways.foreach { case (way, come) =>
          val groups =
            GroupedRows.ofTask(plan, input, unsafe(come(rows).iterator, textBytes = 40))
          var seen = 0
          while (groups.nextGroup()) {
            seen += 1
            val key = groups.key.getLong(0)
            val left = Iterator.continually(groups).takeWhile(_.hasNext).map(g => rowOf(g.next()))
            check(left.toSeq.takeRight(Newest) == newest(key), s"the newest of $keys keys, $way")
          }
          check(seen == keys, "all groups")
        }
      }
    }
  }

  test("when there is no more memory, what was found is given and others begin") {
    inTask { context =>
      for (keys <- Seq(50, 15000)) {
        val arrivals = new Arrivals(numbered(30000, keys))
        ways.foreach { case (way, come) =>
          val hoarder = new Hoarder(context.taskMemoryManager())
          val coming = come(arrivals.rows).iterator.zipWithIndex.map { case (row, i) =>
            if (i == arrivals.rows.size / 3) hoarder.takeEverything()
            row
          }
          arrivals.check(pruned(coming, textBytes = 500), s"$keys keys, $way")
          hoarder.giveBack()
        }
      }
    }
  }

  test("a row may be larger than all memory that there is for rows") {
    inTask { context =>
      val hoarder = new Hoarder(context.taskMemoryManager())
      hoarder.takeEverything()
      val arrivals = new Arrivals(numbered(50, keys = 2))
      val left = pruned(arrivals.rows.iterator, textBytes = 1 << 20)
      hoarder.giveBack()
      arrivals.check(left, "large rows")
    }
  }
}

private object NewestRowsSuite {
  import KeepPlans._

  val Newest = 5

  private val policy = spec(s"KEEP $Newest ROWS").copy(output = Output.Rows)
  val input = KeepPlans.input
  val plan = KeepPlans.plan(policy, order = Seq(n))

  /** Rows with ties in their order; their times equal their positions and break the ties. */
  def numbered(count: Int, keys: Int): Seq[Arrived] =
    (0 until count).map(i => Arrived(i * 31L % keys, Some(i.toLong), i.toLong / 3 / keys))

  val ways: Seq[(String, Seq[Arrived] => Seq[Arrived])] = Seq(
    "in order" -> identity,
    "shuffled" -> (new Random(1).shuffle(_)),
    "newest first" -> (_.reverse),
    "in runs" -> (rows => rows.grouped(1 + rows.size / 7).toSeq.reverse.flatten))

  def newestOf(rows: Seq[Arrived]): Map[Long, Seq[Arrived]] =
    rows.groupBy(_.k).map { case (key, all) =>
      key -> all.sortBy(row => (row.n, row.micros)).takeRight(Newest)
    }

  /** The rows that come to a task, in any order. */
  final class Arrivals(val rows: Seq[Arrived]) {
    private val known = rows.toSet
    private val newest = newestOf(rows)

    /** Checks the rows that the task leaves. */
    def check(left: Seq[Arrived], where: String): Unit = {
      TaskTest.check(left.distinct.size == left.size, s"each row is given once: $where")
      TaskTest.check(left.forall(known), s"only rows that came are given: $where")
      TaskTest.check(newestOf(left) == newest, s"the newest are given: $where")
    }
  }

  def pruned(rows: Iterator[Arrived], textBytes: Int): Seq[Arrived] =
    new NewestRowsOfTask(plan, input, Newest, unsafe(rows, textBytes)).map(rowOf).toVector

  /** Converts the rows into one reused row object, as an operator does. */
  def unsafe(rows: Iterator[Arrived], textBytes: Int): Iterator[UnsafeRow] = {
    val projection = UnsafeProjection.create(input.map(_.dataType).toArray[DataType])
    val text = UTF8String.fromString("x" * textBytes)
    rows.map(row => projection(InternalRow(row.k, row.micros.get, row.n, text, row.micros.get)))
  }

  def rowOf(row: UnsafeRow): Arrived =
    Arrived(row.getLong(0), Some(row.getLong(1)), row.getLong(2))
}
