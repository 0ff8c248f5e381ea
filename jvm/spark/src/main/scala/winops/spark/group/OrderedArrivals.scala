package winops.spark.group

import org.apache.spark.sql.catalyst.expressions.{RowOrdering, UnsafeProjection, UnsafeRow}

import winops.spark.input.GroupedRows
import winops.spark.internal.KeepMetrics
import winops.spark.plan.OperatorPlan

/** Holds rows back until the watermark has passed their time, then releases them in the order of
  * time and the order columns.
  *
  * @param state
  *   stores the rows that wait
  * @param held
  *   the number of rows to which the limit of the plan applies
  * @param metrics
  *   counts the rows that are refused for this limit
  */
final class OrderedArrivals(
    plan: OperatorPlan,
    admission: Admission,
    state: ArrivalState,
    times: BatchTimes,
    held: () => Long,
    metrics: KeepMetrics)
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
  private val separatesHistory = times.history.exists(_.isSilent)
  private var waiting: WaitingRows = _
  private var history: WaitingRows = _
  private var come: UnsafeRow = _

  /** The reason for which the row that has come has no effect, and that of the last row. */
  private var refusedCome = Refusal.None
  private var refused = Refusal.None

  /** True once no row is released any more, and the others begin to wait. */
  private var isHolding = false
  private var ahead: UnsafeRow = _
  private var ofHistory = false

  /** The greatest time of a row of the table that waited before this micro-batch. */
  private var waitedUntil = Long.MinValue

  override def open(rows: GroupedRows): Unit = {
    this.rows = rows
    come = null
    ahead = null
    isHolding = false
    refusedCome = Refusal.None
    refused = Refusal.None
    admission.open()
    waitedUntil = if (separatesHistory) state.history.lastTime else Long.MinValue
    waiting = state.waiting.release(releaseBefore, order)
    history =
      if (separatesHistory) state.history.release(releaseBefore, order) else NoWaitingRows
  }

  override def hasNext: Boolean = {
    if (ahead == null && rows != null) {
      val row = if (isHolding) null else choose()
      if (row != null && (refusedCome != Refusal.None || isReleased(row))) {
        ahead = row
        take(row)
      } else holdBack()
    }
    ahead != null
  }

  override def next(): UnsafeRow = {
    val row = if (hasNext) ahead else throw new NoSuchElementException
    ahead = null
    contentOf(row)
  }

  override def refusal: Int = refused

  override def isOfHistory: Boolean = ofHistory

  override def historyUntil: Long = Math.max(waitedUntil, admission.historyUntil)

  private def take(row: UnsafeRow): Unit =
    if (row eq come) takeCome()
    else {
      refused = Refusal.None
      ofHistory = row eq history.first
      if (ofHistory) history.take() else waiting.take()
    }

  private def takeCome(): Unit = {
    ofHistory = admission.isOfHistory
    refused = refusedCome
    refusedCome = Refusal.None
    come = null
  }

  private def fetch(): Unit = {
    come = admission.next(rows)
    refusedCome = admission.refusal
  }

  /** The first in order of the waiting and the new rows; of equal rows, the waiting one, and
    * first that of a table before the stream. A row without effect precedes all others.
    */
  private def choose(): UnsafeRow = {
    if (come == null) fetch()
    if (refusedCome != Refusal.None) come
    else firstOf(history.first, firstOf(waiting.first, come))
  }

  private def firstOf(one: UnsafeRow, other: UnsafeRow): UnsafeRow =
    if (one == null || other != null && order.compare(one, other) > 0) other else one

  /** Lets the new rows wait until the last one, or the next one without effect, which is then
    * ahead.
    */
  private def holdBack(): Unit = {
    if (!isHolding) {
      isHolding = true
      waiting.finish()
      history.finish()
    } else if (come == null) fetch()
    while (come != null && refusedCome == Refusal.None) {
      if (!plan.spec.failsOnRefused && held() >= plan.spec.maxRows) {
        metrics.refused += 1
        refusedCome = Refusal.MaxRows
      } else {
        val log =
          if (separatesHistory && admission.isOfHistory) state.history else state.waiting
        log.append(come, order)
        MaxRows.check(plan.spec, held())
        fetch()
      }
    }
    if (come != null) {
      ahead = come
      takeCome()
    } else {
      state.waiting.settle(order)
      if (separatesHistory) state.history.settle(order)
      rows = null
    }
  }

  // No later instant could release a row at the last instant.
  private def isReleased(row: UnsafeRow): Boolean = releasesAll || timeOf(row) < releaseBefore

  private def timeOf(row: UnsafeRow): Long = row.getLong(timeOrdinal)
}
