package winops.spark.output

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.spark.group.GroupState
import winops.spark.internal.KeepMetrics
import winops.spark.plan.KeepPlan
import winops.spark.row.RowBytes
import winops.window.changes.ChangeQueue

/** Emits each row of the window contents. */
private final class RowsOutput(
    plan: KeepPlan,
    changes: ChangeQueue,
    state: GroupState,
    metrics: KeepMetrics)
    extends OutputWriter(changes, metrics) {
  private val content = new UnsafeRow(plan.content.size)

  override def hasNext: Boolean = isAtChange

  override protected def give(): InternalRow = {
    changes.next()
    RowBytes.pointTo(content, state.window, changes.ordinal)
    content
  }
}
