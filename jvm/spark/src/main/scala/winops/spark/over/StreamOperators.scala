package winops.spark.over

import org.apache.spark.sql.catalyst.plans.logical._

import winops.spark.plan.Keep

/** Finds stateful operators of a stream. */
private[spark] object StreamOperators {

  /** Returns true if a plan has an operator that may emit a row later than it gets the row. */
  def areIn(plan: LogicalPlan): Boolean = plan.exists(holdsRows)

  /** Returns true for an operator whose state a watermark limits. */
  def haveState(node: LogicalPlan): Boolean = node match {
    case _: Deduplicate | _: DeduplicateWithinWatermark => node.isStreaming
    case _ => holdsRows(node)
  }

  private def holdsRows(node: LogicalPlan): Boolean = node match {
    case keep: Keep => keep.isStreaming
    case aggregate: Aggregate => aggregate.isStreaming
    case distinct: Distinct => distinct.isStreaming
    case join: Join => join.left.isStreaming && join.right.isStreaming
    case _: FlatMapGroupsWithState | _: FlatMapGroupsInPandasWithState => true
    case _: TransformWithState | _: TransformWithStateInPySpark => true
    case _ => false
  }
}
