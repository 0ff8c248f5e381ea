package winops.spark.aggregates

import org.openjdk.jmh.annotations._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{Average, DeclarativeAggregate, Max, Min}
import org.apache.spark.sql.types.LongType

import winops.benchmarks.{AverageNanos, Trades}
import winops.spark.testing.KeepPlans

/** Adds a row to the aggregation buffer of a mean, a minimum and a maximum. */
class JoinedRowBenchmark extends AverageNanos {

  @Param(Array("TwoUnsafeRows", "JoinedRow"))
  var joinedBy: String = _

  /** True if the JVM has joined rows of other classes before. */
  @Param(Array("false", "true"))
  var others: Boolean = _

  private val functions: Seq[DeclarativeAggregate] =
    Seq(Average(KeepPlans.n), Min(KeepPlans.n), Max(KeepPlans.n))
  private val attributes = functions.flatMap(_.aggBufferAttributes)
  private val types = attributes.map(_.dataType).toArray
  private val update = MutableProjection.create(
    functions.flatMap(_.updateExpressions),
    attributes ++ KeepPlans.content)
  private val buffer =
    UnsafeProjection.create(types).apply(InternalRow(0.0, 0L, 0L, 0L)).copy()
  private val rows = {
    val trades = new Trades(100, 10000)
    Array.fill(1024)(trades.next().copy())
  }
  private val joined = new JoinedRow
  private val two = new TwoUnsafeRows
  private var i = 0

  @Setup
  def joinOthers(): Unit = if (others) {
    val rows = Seq(InternalRow(0L), new SpecificInternalRow(Seq(LongType)), buffer)
    for (_ <- 0 until 100000; front <- rows; behind <- rows) {
      joined(front, behind)
      Seq(0, front.numFields).foreach(i => if (!joined.isNullAt(i)) joined.getLong(i))
    }
  }

  @Benchmark
  def add(): InternalRow = {
    i = (i + 1) & 1023
    val both = if (joinedBy == "JoinedRow") joined(buffer, rows(i)) else two.of(buffer, rows(i))
    update.target(buffer)(both)
  }
}
