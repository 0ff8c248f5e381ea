package winops.spark.output

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.spark.group.{GroupState, KeepOperation}
import winops.spark.internal.KeepMetrics
import winops.spark.plan.KeepPlan
import winops.spark.row.RowBytes
import winops.window.changes.ChangeQueue

/** Emits each row of the window contents. */
private final class RowsOutput(
    plan: KeepPlan,
    changes: ChangeQueue,
    state: GroupState[KeepOperation],
    metrics: KeepMetrics)
    extends ChangesReader(changes, metrics) {
  private val content = new UnsafeRow(plan.content.size)

  override def hasNext: Boolean = isAtChange

  override protected def emit(): InternalRow = {
    changes.next()
    RowBytes.pointTo(content, state.operation.window, changes.ordinal)
    content
  }
}
