package winops.window.machine

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.unsafe.types.UTF8String
import org.openjdk.jmh.annotations._

import winops.benchmarks.{AverageNanos, LongColumns, Trades}
import winops.spark.row.RowBytes
import winops.spark.testing.KeepPlans
import winops.storage.btree.Pages
import winops.storage.bytes.{HeapSegments, ShiftedSegments}
import winops.storage.rows.{PatchedRowLog, RowLog}
import winops.terms.{RowExpression, RowOperation}
import winops.text.ccl.Ccl
import winops.window.changes.ChangeQueue
import winops.window.time.Clock

/** Deletes any row of a full window of rows with a primary key and inserts its key again, or
  * updates it, reading the changes, and settling.
  */
class KeyedWindowBenchmark extends AverageNanos {
  import KeyedWindowBenchmark._

  /** The number of rows in the window. */
  @Param(Array("100", "10000", "1000000"))
  var size: Int = _

  private val random = new Random(20130101L)
  private val row = UnsafeProjection
    .create(KeepPlans.content.map(_.dataType).toArray)
    .apply(InternalRow(0L, 0L, 0L, UTF8String.fromString("SYM")))
  private var rows: PatchedRowLog = _
  private var machine: Machine = _
  private var changes: ChangeQueue = _
  private var instant = 0L

  @Setup
  def fill(): Unit = {
    val policy = KeepPlans.policyOf(Ccl, s"KEEP $size ROWS")
    val keyed = policy.copy(key = Seq(RowExpression.Column(KeepPlans.k.name)(0)))
    val segments = new HeapSegments
    val pages = new Pages(new ShiftedSegments(segments, FirstPage))
    rows = new PatchedRowLog(
      new RowLog(segments, keyed.needsArrivals),
      pages,
      withArrival = keyed.needsArrivals)
    changes = new ChangeQueue(keyed.stream)
    val values = new LongColumns(Map(KeepPlans.k.name -> Trades.Symbol), rows)
    machine = new Machine(keyed, Clock.Never, rows, pages, values, changes)
    (0 until size).foreach(key => operate(RowOperation.Insert, key.toLong))
    assert(machine.held == size, s"${machine.held} rows are held")
  }

  @Benchmark
  @OperationsPerInvocation(RowsPerInvocation)
  def deleteAndInsert(): Long = {
    var emitted = 0L
    var i = 0
    while (i < RowsPerInvocation) {
      val key = random.nextInt(size).toLong
      emitted += operate(RowOperation.Delete, key) + operate(RowOperation.Insert, key)
      i += 1
    }
    emitted
  }

  @Benchmark
  @OperationsPerInvocation(RowsPerInvocation)
  def update(): Long = {
    var emitted = 0L
    var i = 0
    while (i < RowsPerInvocation) {
      emitted += operate(RowOperation.Update, random.nextInt(size).toLong)
      i += 1
    }
    emitted
  }

  private def operate(operation: Int, key: Long): Long = {
    instant += 1
    row.setLong(Trades.Symbol, key)
    row.setLong(Trades.Time, instant)
    machine.advance(instant)
    RowBytes.append(rows, instant, row)
    val _ = machine.operate(operation, instant)
    var emitted = 0L
    while (!changes.isEmpty) {
      changes.next()
      emitted += changes.ordinal
    }
    machine.settle()
    emitted
  }
}

object KeyedWindowBenchmark {
  final val RowsPerInvocation = 1000
  private val FirstPage = 1L << 60
}
