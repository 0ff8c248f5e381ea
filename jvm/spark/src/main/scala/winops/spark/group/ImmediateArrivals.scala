package winops.spark.group

import org.apache.spark.sql.catalyst.expressions._

import winops.spark.input.GroupedRows
import winops.spark.internal.KeepMetrics
import winops.spark.plan.OperatorPlan

/** Applies each admitted row in the micro-batch in which it arrives, and counts out-of-order
  * rows.
  */
final class ImmediateArrivals(
    plan: OperatorPlan,
    admission: Admission,
    state: ArrivalState,
    metrics: KeepMetrics)
    extends Arrivals {
  private val order = new OrderWatch(plan)
  private val asking = new AskingFlag(plan, plan.content)
  private val hasAsking = asking.isKnown
  private var rows: GroupedRows = _
  private var ahead: UnsafeRow = _
  private var refused = Refusal.None

  override def open(rows: GroupedRows): Unit = {
    this.rows = rows
    ahead = null
    admission.open()
    order.open(state.lastOrder)
  }

  override def hasNext: Boolean = {
    if (ahead == null && rows != null) {
      ahead = admission.next(rows)
      if (ahead == null) {
        rows = null
        state.lastOrder = order.last
      } else {
        refused = admission.refusal
        val reads = hasAsking && asking.isSet(ahead)
        if (refused == Refusal.None && !reads && order.isBehind(ahead)) metrics.outOfOrder += 1
      }
    }
    ahead != null
  }

  override def refusal: Int = refused

  override def isOfHistory: Boolean = admission.isOfHistory

  override def historyUntil: Long = admission.historyUntil

  override def next(): UnsafeRow = {
    val row = if (hasNext) ahead else throw new NoSuchElementException
    ahead = null
    row
  }
}
