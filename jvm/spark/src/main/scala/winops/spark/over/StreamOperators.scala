package winops.spark.over

import org.apache.spark.sql.catalyst.plans.logical._

import winops.spark.plan.Keep

/** Finds operators of a stream that hold rows back. */
private[spark] object StreamOperators {

  /** Returns true if a plan has an operator that may emit a row later than it gets the row. */
  def areIn(plan: LogicalPlan): Boolean = plan.exists {
    case keep: Keep => keep.isStreaming
    case aggregate: Aggregate => aggregate.isStreaming
    case join: Join => join.left.isStreaming && join.right.isStreaming
    case _: FlatMapGroupsWithState | _: TransformWithState => true
    case _ => false
  }
}
