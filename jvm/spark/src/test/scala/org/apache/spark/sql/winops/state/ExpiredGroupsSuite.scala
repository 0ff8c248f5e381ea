package org.apache.spark.sql.winops.state

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, LongType}
import org.apache.spark.sql.winops.testing.{Hoarder, TaskTest}

import winops.spark.state.{StateVersion, StoredPartitionState}
import winops.spark.testing.MapSegments

class ExpiredGroupsSuite extends TaskTest {
  import ExpiredGroupsSuite._
  import TaskTest.check

  test("expired groups are in the memory of the task, which takes it back from them") {
    inTask { context =>
      val segments = new MapSegments
      val first = open(segments, now = 0)
      // A group may have several timers.
      (0 until Count).foreach(i => first.register(50, key(i.toLong)))
      (0 until Count by 3).foreach(i => first.register(40, key(i.toLong)))
      first.save()
      readAll(context, open(segments, now = 60))
      check(segments.numbers == Set(0L), "all slots are read and removed")
    }
  }

  test("all groups are in the memory of the task if each has to be processed") {
    inTask { context =>
      val segments = new MapSegments
      open(segments, now = 0).save()
      readAll(
        context,
        open(
          segments,
          now = 1,
          idle = Some(10),
          (0 until Count).iterator.map(i => key(i.toLong))))
    }
  }

  test("groups with rows are left out among many that are due, and come in between") {
    inTask { _ =>
      val segments = new MapSegments
      val first = open(segments, now = 0)
      (0 until Count).foreach(i => first.register(50, key(i.toLong)))
      first.save()
      val timers = open(segments, now = 60)
      val withRows = (0 until Count by 7).map(i => key(i.toLong)).sortBy(rankOf)
      val all = withRows.flatMap { group =>
        val before = Iterator
          .continually(timers.nextExpiredBefore(group))
          .takeWhile(_ != null)
          .map(_.getLong(0))
          .toVector
        timers.cancel(group)
        before :+ group.getLong(0)
      } ++ takeAll(timers)
      check(all.size == Count, "each group comes once")
      checkOrder(all)
    }
  }
}

private object ExpiredGroupsSuite {
  import TaskTest.check

  val Count = 200000
  private val identity = s"""{"policy":"KEEP 2 ROWS","format":${StateVersion.Current}}"""

  def key(k: Long): UnsafeRow = toKey(InternalRow(k)).copy()
  private lazy val toKey = UnsafeProjection.create(Array[DataType](LongType))

  def rankOf(key: UnsafeRow): Long = spread(key.getLong(0))

  /** Multiplies by the golden ratio, which spreads the keys. */
  private def spread(k: Long): Long = k * 0x9e3779b97f4a7c15L

  def open(
      segments: MapSegments,
      now: Long,
      idle: Option[Long] = None,
      groups: => Iterator[UnsafeRow] = Iterator.empty): StoredPartitionState =
    new StoredPartitionState(segments, identity, 1, now, idle, groups, rankOf = rankOf)

  def takeAll(timers: StoredPartitionState): Vector[Long] =
    Iterator.continually(timers.nextExpired()).takeWhile(_ != null).map(_.getLong(0)).toVector

  /** Reads all groups while another consumer takes the memory of the task. */
  def readAll(context: TaskContext, timers: StoredPartitionState): Unit = {
    val memory = context.taskMemoryManager()
    check(memory.getMemoryConsumptionForThisTask > Count * 16L, "groups are in the task's memory")
    val begun = (0 until 1000).map(_ => timers.nextExpired().getLong(0))
    val hoarder = new Hoarder(memory)
    hoarder.takeEverything()
    check(context.taskMetrics().memoryBytesSpilled > 0, "groups are spilled")
    val all = begun ++ takeAll(timers)
    check(all.size == Count, "each group comes once")
    checkOrder(all)
    hoarder.giveBack()
    check(memory.getMemoryConsumptionForThisTask == 0, "all memory is given back")
  }

  def checkOrder(groups: Seq[Long]): Unit =
    check(groups == (0L until Count.toLong).sortBy(spread), "in order of their ranks")
}
