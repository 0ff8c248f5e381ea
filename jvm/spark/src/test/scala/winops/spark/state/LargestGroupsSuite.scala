package winops.spark.state

import java.lang.management.ManagementFactory

import scala.util.Random

import com.sun.management.ThreadMXBean

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, LongType}

import winops.spark.internal.{GroupSize, GroupSizes}

class LargestGroupsSuite extends AnyFunSuite {
  private val toKey = UnsafeProjection.create(Array[DataType](LongType))

  private def found(limit: Int)(groups: (Long, Long)*): GroupSizes = {
    val largest = new LargestGroups(limit)
    // The projection has one row for all keys, as a task has.
    groups.foreach { case (key, rows) => largest.add(toKey(InternalRow(key)), rows) }
    largest.sizes(key => textOf(key))
  }

  private def textOf(key: UnsafeRow): String = key.getLong(0).toString

  test("the largest groups are those that sorting finds") {
    val random = new Random(7)
    for (count <- Seq(0, 1, 2, 3, 100); limit <- Seq(1, 3, 5)) {
      val groups = random.shuffle((1L to count.toLong).map(i => i -> i * 10))
      val expected = groups.sortBy(-_._2).take(limit).map { case (key, rows) =>
        GroupSize(key.toString, rows)
      }
      val sizes = found(limit)(groups: _*)
      assert(sizes.groups == expected)
      assert(sizes.rows == count * 10)
    }
  }

  test("a group that is given again counts with its greatest number") {
    val sizes = found(3)(1L -> 5L, 2L -> 7L, 1L -> 9L, 1L -> 2L, 3L -> 0L)
    assert(sizes == GroupSizes(9, Seq(GroupSize("1", 9), GroupSize("2", 7))))
  }

  test("a group that is none of the largest costs no memory") {
    val threads = ManagementFactory.getThreadMXBean.asInstanceOf[ThreadMXBean]
    val largest = new LargestGroups(GroupSizes.MaxGroups)
    val key = toKey(InternalRow(0L)).copy()
    for (rows <- 1 to 10) largest.add(toKey(InternalRow(rows.toLong)), 100L + rows)
    def allocated(groups: Int): Long = {
      val before = threads.getCurrentThreadAllocatedBytes
      var i = 0
      while (i < groups) {
        largest.add(key, (i % 100).toLong)
        i += 1
      }
      threads.getCurrentThreadAllocatedBytes - before
    }
    val _ = allocated(1)
    // The measurement itself takes a few bytes.
    assert(allocated(1000000) < 1024)
  }

  test("without keys only the number of rows is known") {
    assert(found(0)(1L -> 5L, 2L -> 7L) == GroupSizes(7, Nil))
  }
}
