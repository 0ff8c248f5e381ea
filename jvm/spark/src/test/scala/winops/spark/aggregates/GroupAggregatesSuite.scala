package winops.spark.aggregates

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.catalyst.expressions.aggregate.Count
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.expressions.WindowAggregate
import winops.spark.testing.KeepPlans
import winops.storage.btree.Pages
import winops.storage.bytes.HeapSegments

class GroupAggregatesSuite extends AnyFunSuite {
  private val count = 30000L

  test("a group that starts with rows does not hold the values that they touch") {
    val toUnsafe = UnsafeProjection.create(KeepPlans.content.map(_.dataType).toArray[DataType])
    val counted = WindowAggregate(Count(Seq(KeepPlans.n)), isDistinct = false, filter = None)
    var most = 0
    lazy val aggregates: GroupAggregates = new GroupAggregates(
      Seq(counted),
      Seq(KeepPlans.n),
      KeepPlans.content,
      (row, ordinal) => {
        most = Math.max(most, aggregates.touchedValues)
        val bytes = toUnsafe(InternalRow(1L, 0L, ordinal, UTF8String.EMPTY_UTF8)).getBytes
        row.pointTo(bytes, bytes.length)
      },
      new Pages(new HeapSegments),
      leavesFromFront = true)
    aggregates.startWith(visit => visit(0L, count), Nil)
    assert(most > 0 && most <= 2 * GroupAggregates.RowsOfStep)
    aggregates.startWith(visit => (0L until count).foreach(row => visit(row, row + 1)), Nil)
    assert(most <= 2 * GroupAggregates.RowsOfStep)
    aggregates.insert(count, count + 1)
    var visited = 0
    aggregates.visit((_, _) => visited += 1)
    assert(visited == 1)
  }
}
