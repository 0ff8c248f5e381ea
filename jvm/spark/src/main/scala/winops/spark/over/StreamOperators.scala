package winops.spark.over

import org.apache.spark.sql.catalyst.analysis.StreamingJoinHelper
import org.apache.spark.sql.catalyst.expressions.{And, AttributeSet, Expression}
import org.apache.spark.sql.catalyst.plans.{Inner, InnerLike, LeftSemi}
import org.apache.spark.sql.catalyst.plans.logical._

import winops.spark.plan.GroupedOperator

/** Finds stateful operators of a stream. */
private[spark] object StreamOperators {

  /** A watermark for which those of joins are computed. Their differences do not depend on it. */
  private val SomeWatermark = 4000000000000L

  /** Returns true if a plan has an operator that may emit a row later than it gets the row. */
  def areIn(plan: LogicalPlan): Boolean = plan.exists(holdsRows)

  /** Returns true for an operator whose state a watermark limits. */
  def haveState(node: LogicalPlan): Boolean = node match {
    case _: Deduplicate | _: DeduplicateWithinWatermark => node.isStreaming
    case _ => holdsRows(node)
  }

  /** The name of an operator of Spark in a plan that may emit rows when the watermark has passed
    * the last row by more than one millisecond. A flush does not move the watermark as far,
    * because the rows of a later start would be late.
    */
  def holdingBack(plan: LogicalPlan): Option[String] = holdingBack(plan, Nil)

  private def holdingBack(plan: LogicalPlan, filters: Seq[Expression]): Option[String] =
    plan match {
      case Filter(condition, child) => holdingBack(child, filters :+ condition)
      case SubqueryAlias(_, child) => holdingBack(child, filters)
      case join: Join if join.left.isStreaming && join.right.isStreaming && lags(join, filters) =>
        Some(s"the ${join.joinType.sql} JOIN")
      case _: TransformWithState | _: TransformWithStateInPySpark => Some("transformWithState")
      case node =>
        node.children.iterator.map(holdingBack(_, Nil)).collectFirst { case Some(name) => name }
    }

  /** Returns true if a join emits rows without a partner, or has an earlier watermark than its
    * input, as a join over an interval of time.
    */
  private def lags(join: Join, filters: Seq[Expression]): Boolean = join.joinType match {
    case _: InnerLike | LeftSemi =>
      val condition = (join.condition ++ filters).reduceOption(And(_, _))
      val equal = join.copy(joinType = Inner, condition = condition)
      def limits(side: LogicalPlan, other: LogicalPlan): Option[Long] =
        if (Watermarks.carrier(side).isEmpty) None
        else {
          StreamingJoinHelper.getStateValueWatermark(
            AttributeSet(side.output),
            AttributeSet(other.output),
            condition,
            Some(SomeWatermark))
        }
      !StreamingJoinHelper.isWatermarkInJoinKeys(equal) &&
      (limits(join.left, join.right) ++ limits(join.right, join.left)).exists(_ < SomeWatermark)
    case _ => true
  }

  private def holdsRows(node: LogicalPlan): Boolean = node match {
    case operator: GroupedOperator => operator.isStreaming
    case aggregate: Aggregate => aggregate.isStreaming
    case distinct: Distinct => distinct.isStreaming
    case join: Join => join.left.isStreaming && join.right.isStreaming
    case _: FlatMapGroupsWithState | _: FlatMapGroupsInPandasWithState => true
    case _: TransformWithState | _: TransformWithStateInPySpark => true
    case _ => false
  }
}
