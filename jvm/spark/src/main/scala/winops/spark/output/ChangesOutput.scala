package winops.spark.output

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.spark.group.{GroupState, KeepOperation}
import winops.spark.internal.KeepMetrics
import winops.spark.plan.KeepPlan
import winops.spark.row.RowBytes
import winops.window.changes.ChangeQueue

/** Emits each insert and each delete as one output row: the change columns, then the row. */
private final class ChangesOutput(
    plan: KeepPlan,
    changes: ChangeQueue,
    state: GroupState[KeepOperation],
    hasTime: Boolean,
    metrics: KeepMetrics)
    extends ChangesReader(changes, metrics) {
  private val content = new UnsafeRow(plan.content.size)
  private val changeRows = new ChangeRows(plan)

  override def hasNext: Boolean = isAtChange

  override protected def emit(): InternalRow = {
    changes.next()
    countRows(1L)
    RowBytes.pointTo(content, state.operation.window, changes.ordinal)
    changeRows.of(changes, hasTime, content)
  }
}
