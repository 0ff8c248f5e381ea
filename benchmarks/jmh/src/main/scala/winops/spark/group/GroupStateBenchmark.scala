package winops.spark.group

import org.openjdk.jmh.annotations._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.types.{DataType, LongType}

import winops.benchmarks.{AverageNanos, Trades}
import winops.spark.row.RowBytes
import winops.spark.state.TransientGroupStore
import winops.spark.testing.KeepPlans
import winops.storage.bytes.{ByteReader, ByteWriter}
import winops.window.changes.ChangeQueue

/** Restores and saves a group, the cost of a group in a micro-batch beside its rows. A long
  * window has its rows in segments, which neither operation reads or writes.
  */
class GroupStateBenchmark extends AverageNanos {

  /** The number of rows in the window. */
  @Param(Array("10", "100", "1000"))
  var size: Int = _

  private val out = new ByteWriter
  private var state: GroupState[KeepOperation] = _
  private var saved: Array[Byte] = _

  @Setup
  def fill(): Unit = {
    val plan = KeepPlans.plan(KeepPlans.spec(s"KEEP $size ROWS"))
    val store = new TransientGroupStore
    store.open(UnsafeProjection.create(Array[DataType](LongType)).apply(InternalRow(0L)))
    val storage = new GroupStorage(plan, store)
    val operation = new KeepOperation(plan, storage, new ChangeQueue(plan.spec.stream))
    state = new GroupState(plan, storage, operation)
    state.clear()
    val trades = new Trades(symbols = 1, noise = 10000)
    (0 until 2 * size).foreach { _ =>
      RowBytes.append(operation.window, trades.instant, trades.next())
      operation.machine.arrive(0L)
      operation.machine.settle()
    }
    assert(state.held == size)
    saved = save()
  }

  @Benchmark
  def save(): Array[Byte] = {
    out.clear()
    state.save(out)
    out.toArray
  }

  @Benchmark
  def restore(): Long = {
    state.restore(new ByteReader(saved))
    state.held
  }
}
