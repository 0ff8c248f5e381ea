package winops.spark.group

import org.apache.spark.sql.catalyst.expressions._

import winops.spark.input.GroupedRows
import winops.spark.internal.KeepMetrics
import winops.spark.plan.OperatorPlan

/** Iterates over the rows of the open group that are applied in this micro-batch, in order. */
trait Arrivals {

  /** Opens a group; `rows` are its new rows in this micro-batch. */
  def open(rows: GroupedRows): Unit

  def hasNext: Boolean

  /** The columns of the next row that the window holds; valid until the next call of any method.
    */
  def next(): UnsafeRow

  /** The reason for which the last row of [[next]] has no effect and is only to be emitted, one
    * of [[Refusal]].
    */
  def refusal: Int

  /** True if the last row is one of a table before the stream. For a row that has waited, it is
    * true only if its output is dropped.
    */
  def isOfHistory: Boolean

  /** The greatest known time in milliseconds of a row of a table before the stream in the open
    * group; `Long.MinValue` if none has been applied in this micro-batch and none waits.
    */
  def historyUntil: Long
}

object Arrivals {

  /** The arrivals of a task, whose rows wait for the watermark if the plan says so.
    *
    * @param input
    *   the columns of the rows
    * @param state
    *   stores the rows that wait
    * @param held
    *   the number of rows to which the limit of the plan applies
    */
  def of(
      plan: OperatorPlan,
      input: Seq[Attribute],
      times: BatchTimes,
      state: ArrivalState,
      held: () => Long,
      metrics: KeepMetrics): Arrivals = {
    val admission = new Admission(plan, input, times, metrics)
    if (plan.spec.rowsWait) new OrderedArrivals(plan, admission, state, times, held, metrics)
    else new ImmediateArrivals(plan, admission, state, metrics)
  }
}
