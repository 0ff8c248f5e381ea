package winops.spark

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

import winops.window.ChangeQueue

/** What the content of a window is worth at each report: the group's key, when that was, the
  * number of the last change, and the results.
  */
private final class ToldValues(
    plan: KeepPlan,
    changes: ChangeQueue,
    state: GroupState,
    content: FollowedContent,
    hasTime: Boolean,
    metrics: KeepMetrics)
    extends ToldSteps(plan, changes, Array(content), metrics) {
  private val onlyLatest = plan.spec.onlyLatest

  /** Whether what is told is what is there at the end of a step. */
  private val isOfSteps = !plan.spec.reportsByTrigger && !plan.spec.reportsWhenEmptied

  private val change = new GenericInternalRow(2)
  private val front = new JoinedRow
  private val whole = new JoinedRow
  private val projection = UnsafeProjection.create(plan.output.map(_.dataType).toArray)

  private val values = mutable.Queue.empty[UnsafeRow]
  private var isAwaited = false
  private var isGroupDone = false

  override def hasNext: Boolean = {
    follow()
    values.nonEmpty && (isGroupDone || !onlyLatest)
  }

  override protected def give(): InternalRow = values.dequeue()

  override def beginGroup(): Unit = isGroupDone = false

  override def endGroup(): Unit = {
    isGroupDone = true
    if (isAwaited) evaluate()
  }

  override protected def report(): Unit =
    if (onlyLatest && isOfSteps) isAwaited = true
    else {
      if (onlyLatest) values.clear()
      evaluate()
    }

  private def evaluate(): Unit = {
    isAwaited = false
    if (hasTime) change.setLong(0, Micros.of(at)) else change.setNullAt(0)
    change.setLong(1, sequence)
    front(if (plan.spec.acrossGroups) InternalRow.empty else state.key, change)
    content.visit(result => values += projection(whole(front, result)).copy())
  }
}
