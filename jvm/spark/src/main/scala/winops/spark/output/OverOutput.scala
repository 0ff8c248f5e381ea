package winops.spark.output

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeRowJoiner
import org.apache.spark.sql.catalyst.types.DataTypeUtils

import winops.spark.group.{BatchTimes, GroupState}
import winops.spark.internal.KeepMetrics
import winops.spark.plan.KeepPlan
import winops.spark.row.RowBytes
import winops.window.changes.{ChangeKind, ChangeQueue}

/** Emits each row with the results of window functions as further columns, as soon as no further
  * row can change them.
  */
private final class OverOutput(
    plan: KeepPlan,
    changes: ChangeQueue,
    state: GroupState,
    times: BatchTimes,
    metrics: KeepMetrics)
    extends OutputWriter(changes, metrics) {
  private val frames = state.frames.get
  private val content = new UnsafeRow(plan.content.size)
  private val joiner = GenerateUnsafeRowJoiner.create(
    DataTypeUtils.fromAttributes(plan.content),
    DataTypeUtils.fromAttributes(plan.changeColumns))

  override def hasNext: Boolean = {
    if (!changes.isEmpty) takeChanges()
    state.nextRow < state.window.end && frames.isKnown(state.nextRow)
  }

  override protected def give(): InternalRow = {
    val results = frames.results(state.nextRow)
    RowBytes.pointTo(content, state.window, state.nextRow)
    val row = joiner.join(content, results)
    state.nextRow += 1
    row
  }

  override def beginGroup(): Unit = frames.rows.open()

  /** All rows before the watermark have arrived. At the end of the input these are all rows,
    * unless some wait for the watermark to move.
    */
  override def endGroup(): Unit =
    if (times.flushes && state.waiting.size == 0) frames.rows.finish()
    else frames.rows.complete(times.releaseBefore)

  private def takeChanges(): Unit = while (!changes.isEmpty) {
    changes.nextEntry()
    changes.kind match {
      case ChangeKind.Insert =>
        countRows(changes.end - changes.ordinal)
        var row = changes.ordinal
        while (row < changes.end) {
          RowBytes.pointTo(content, state.window, row)
          frames.rows.append(content)
          row += 1
        }
      // The group was idle for too long.
      case ChangeKind.GroupDelete => frames.rows.finish()
      case _ =>
    }
  }
}
