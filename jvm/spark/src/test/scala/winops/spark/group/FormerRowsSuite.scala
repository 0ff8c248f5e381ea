package winops.spark.group

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{RowOrdering, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, StructField}
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.plan.{Application, KeepPlan}
import winops.spark.restart.FormerColumn
import winops.spark.state.TransientGroupStore
import winops.spark.testing.{KeepPlans, MapSegments}
import winops.storage.bytes.Segments

/** Rows of a group that a restart moves. */
class FormerRowsSuite extends AnyFunSuite {
  private val count = 20000

  test("waiting rows that get another order are sorted a part at a time") {
    import KeepPlans.{k, n, text, ts}
    val spec = KeepPlans.spec("KEEP ALL", Some(Application.EventTime))
    // Without an order, the bytes of rows decide, in which the length of the text now is first.
    val now = KeepPlans.plan(spec).copy(content = Seq(k, ts, text, n), positions = Nil)
    val columns = Seq(k -> 0, ts -> 1, n -> 3, text -> 2).map { case (column, place) =>
      FormerColumn(
        StructField(column.name, column.dataType),
        place,
        isSame = true,
        hasSameType = true)
    }
    var unsorted = Seq.empty[Long]
    val to = arrivals(now)
    val former = new FormerRows(
      now,
      columns,
      () =>
        new Segments {
          private val segments = new MapSegments
          override def get(number: Long): Array[Byte] = segments.get(number)
          override def put(number: Long, bytes: Array[Byte]): Unit = segments.put(number, bytes)
          override def remove(number: Long): Unit = {
            unsorted :+= to.waiting.unsortedRows
            segments.remove(number)
          }
        })
    val before = former.before.asInstanceOf[KeepPlan]
    val from = arrivals(before)
    fill(from, before)
    former.moveWaiting(from, to)
    assert(unsorted.size > 10 && unsorted.max <= FormerRows.MostSorted)
    val order = RowOrdering.create(now.waitingOrder, now.waitingColumns)
    val released = mutable.ArrayBuffer.empty[UnsafeRow]
    val rows = to.waiting.release(WaitingRows.Never, order)
    while (rows.first != null) {
      released += rows.first.copy()
      rows.take()
    }
    assert(released.size == count)
    assert(released.indices.tail.forall(i => order.lteq(released(i - 1), released(i))))
  }

  private def arrivals(plan: KeepPlan): ArrivalState = {
    val storage = new GroupStorage(plan, new TransientGroupStore(1L << 20))
    storage.select(
      UnsafeProjection.create(Array[DataType](KeepPlans.k.dataType))(InternalRow(1L)))
    storage.reach(0L)
    val state = new ArrivalState(plan, storage)
    state.clear()
    state
  }

  private def fill(state: ArrivalState, plan: KeepPlan): Unit = {
    val random = new Random(1)
    val order = RowOrdering.create(plan.waitingOrder, plan.waitingColumns)
    val projection = UnsafeProjection.create(plan.waitingColumns.map(_.dataType).toArray)
    (0 until count).foreach { i =>
      val text = UTF8String.fromString("a" * (1 + random.nextInt(9)))
      state.waiting.append(projection(InternalRow(1L, 7000000L, random.nextLong(), text)), order)
      if (i % 500 == 0) state.waiting.settle(order)
    }
    state.waiting.settle(order)
  }
}
