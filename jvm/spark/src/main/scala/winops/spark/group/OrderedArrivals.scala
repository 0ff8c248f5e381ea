package winops.spark.group

import org.apache.spark.sql.catalyst.expressions.{RowOrdering, UnsafeProjection, UnsafeRow}

import winops.spark.input.GroupedRows
import winops.spark.plan.OperatorPlan

/** Holds rows back until the watermark has passed their time, then releases them in the order of
  * time and the order columns.
  *
  * @param state
  *   stores the rows that wait
  * @param held
  *   the number of rows to which the limit of the plan applies
  */
final class OrderedArrivals(
    plan: OperatorPlan,
    admission: Admission,
    state: ArrivalState,
    times: BatchTimes,
    held: () => Long)
    extends Arrivals {
  private val timeOrdinal = plan.timeOrdinal
  private val releaseBefore = times.releaseBefore
  private val releasesAll = releaseBefore == Long.MaxValue
  private val columns = plan.waitingColumns
  private val order = RowOrdering.create(plan.waitingOrder, columns)
  private val contentOf: UnsafeRow => UnsafeRow =
    if (plan.sourcePartition.isEmpty) identity
    else {
      val projection = UnsafeProjection.create(plan.content, columns)
      row => projection(row)
    }

  private var rows: GroupedRows = _
  private var waiting: WaitingRows = _
  private var come: UnsafeRow = _
  private var ahead: UnsafeRow = _

  override def open(rows: GroupedRows): Unit = {
    this.rows = rows
    come = null
    ahead = null
    waiting = state.waiting.release(releaseBefore, order)
  }

  override def hasNext: Boolean = {
    if (ahead == null && rows != null) {
      val row = choose()
      if (row != null && isReleased(row)) {
        ahead = row
        if (row eq come) come = null else waiting.take()
      } else {
        holdBack()
        rows = null
      }
    }
    ahead != null
  }

  override def next(): UnsafeRow = {
    val row = if (hasNext) ahead else throw new NoSuchElementException
    ahead = null
    contentOf(row)
  }

  /** The first in order of the waiting and the new rows; of equal rows, the waiting one. */
  private def choose(): UnsafeRow = {
    if (come == null) come = admission.next(rows)
    val waited = waiting.first
    if (waited == null || come != null && order.compare(waited, come) > 0) come else waited
  }

  private def holdBack(): Unit = {
    waiting.finish()
    while (come != null) {
      state.waiting.append(come, order)
      MaxRows.check(plan.spec, held())
      come = admission.next(rows)
    }
    state.waiting.settle(order)
  }

  // No later instant could release a row at the last instant.
  private def isReleased(row: UnsafeRow): Boolean = releasesAll || timeOf(row) < releaseBefore

  private def timeOf(row: UnsafeRow): Long = row.getLong(timeOrdinal)
}
