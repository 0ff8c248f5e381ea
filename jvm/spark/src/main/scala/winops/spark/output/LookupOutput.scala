package winops.spark.output

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.{ArrayData, GenericArrayData}
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.aggregates.ResultsBesideRows
import winops.spark.group.{AskingFlag, GroupState, KeepOperation, Refusal, RefusedRow}
import winops.spark.internal.{KeepMetrics, WinopsErrors}
import winops.spark.plan.KeepPlan
import winops.spark.row.RowBytes
import winops.window.changes.ChangeQueue

/** Emits each row that reads the windows once: its columns, the aggregates of the window contents
  * at its time, the rows of the window if the call asks for them, and the reason for which it has
  * read nothing if such rows are emitted.
  */
private final class LookupOutput(
    plan: KeepPlan,
    changes: ChangeQueue,
    state: GroupState[KeepOperation],
    metrics: KeepMetrics,
    refused: RefusedRow)
    extends ContentsOutput(plan, changes, state.operation.results.toArray, metrics) {
  private val spec = plan.spec
  private val operation = state.operation
  private val windows = operation.results
  private val results = new ResultsBesideRows(windows, plan.results)
  private val noResults = new GenericInternalRow(plan.results.size)

  private val isInner = spec.lookup.exists(_.isInner)
  private val emitsContents = spec.emitsContents
  private val emitsReasons = spec.emitsRefused

  private val row = new UnsafeRow(plan.content.size)
  private val element = {
    val others = AttributeSet(plan.asking.toSeq ++ plan.operation)
    UnsafeProjection.create(plan.content.filterNot(others.contains), plan.content)
  }

  /** The contents, and then the reason. */
  private val added = new GenericInternalRow(Seq(emitsContents, emitsReasons).count(identity))
  private val withResults = new JoinedRow
  private val whole = new JoinedRow

  private val flag = new AskingFlag(plan, plan.content)

  /** The number of columns of a row that reads. */
  private val columns = plan.changeColumns.size - plan.results.size - added.numFields

  private val projection =
    UnsafeProjection.create(plan.changeColumns.zipWithIndex.map { case (column, i) =>
      BoundReference(i, column.dataType, nullable = true)
    })

  override def hasNext: Boolean = {
    follow()
    if (isInner && operation.asking != null && windows.forall(_.isEmpty)) operation.takeAsking()
    operation.asking != null || !refused.isEmpty
  }

  override protected def emit(): InternalRow =
    if (operation.asking != null) {
      val emitted = output(operation.asking, results.now, rowsOfWindow, null)
      operation.takeAsking()
      emitted
    } else {
      val reason = UTF8String.fromString(Refusal.Names(refused.reason))
      val emitted = output(refused.row, noResults, null, reason)
      refused.clear()
      emitted
    }

  override protected def report(): Unit = ()

  private def output(
      asking: UnsafeRow,
      values: InternalRow,
      rows: ArrayData,
      reason: UTF8String): InternalRow = {
    if (emitsContents) added.update(0, rows)
    if (emitsReasons) added.update(added.numFields - 1, reason)
    projection(whole(withResults(flag.columnsOf(asking, columns), values), added))
  }

  /** The rows of the window; null if the call does not ask for them.
    *
    * @throws WinopsRuntimeException
    *   `WINOPS_CONTENT_SIZE` if there are more rows than the plan allows
    */
  private def rowsOfWindow: ArrayData =
    if (!emitsContents) null
    else {
      val rows = Array.newBuilder[Any]
      var size = 0L
      windows.head.foreach { ordinal =>
        size += 1
        if (size > spec.maxContent) {
          throw WinopsErrors.runtime(
            "WINOPS_CONTENT_SIZE",
            "maxContent" -> spec.maxContent.toString)
        }
        RowBytes.pointTo(row, operation.window, ordinal)
        rows += element(row).copy()
      }
      new GenericArrayData(rows.result())
    }
}
