package winops.spark.output

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeRowJoiner
import org.apache.spark.sql.catalyst.types.DataTypeUtils

import winops.spark.aggregates.ResultsBesideRows
import winops.spark.group.{GroupState, KeepOperation}
import winops.spark.internal.KeepMetrics
import winops.spark.plan.KeepPlan
import winops.spark.row.RowBytes
import winops.window.changes.ChangeQueue

/** Emits each inserted row with the aggregates of the window contents right after its step as
  * further columns.
  */
private final class WithColumnsOutput(
    plan: KeepPlan,
    changes: ChangeQueue,
    state: GroupState[KeepOperation],
    metrics: KeepMetrics)
    extends ContentsOutput(plan, changes, state.operation.results.toArray, metrics) {
  private val results = new ResultsBesideRows(state.operation.results, plan.results)
  private val content = new UnsafeRow(plan.content.size)
  private val joiner = GenerateUnsafeRowJoiner.create(
    DataTypeUtils.fromAttributes(plan.content),
    DataTypeUtils.fromAttributes(plan.changeColumns))

  private val emitsCorrections = plan.spec.emitsCorrections

  /** The inserted rows as ranges of ordinals: the start of a range, then its end. */
  private var ranges = new Array[Long](32)
  private var end = 0
  private var place = 0
  private var row = 0L

  override def hasNext: Boolean = {
    if (place == end) {
      place = 0
      end = 0
      follow()
      if (end > 0) row = ranges(0)
    }
    place < end
  }

  override protected def emit(): InternalRow = {
    val result = results.beside(row)
    RowBytes.pointTo(content, state.operation.window, row)
    val enriched = joiner.join(content, result)
    row = state.operation.window.next(row)
    if (row >= ranges(place + 1)) {
      place += 2
      if (place < end) row = ranges(place)
    }
    enriched
  }

  override protected def report(): Unit = ()

  override protected def corrected(from: Long, until: Long): Unit =
    if (emitsCorrections) inserted(from, until)

  /** Adds the rows to the ranges. With several windows, each row is inserted into each of them
    * and emitted once.
    */
  override protected def inserted(from: Long, until: Long): Unit = if (changes.window == 0) {
    if (end == ranges.length) ranges = java.util.Arrays.copyOf(ranges, end * 2)
    ranges(end) = from
    ranges(end + 1) = until
    end += 2
  }
}
