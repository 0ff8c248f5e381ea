package winops.spark.over

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.DataTypeMismatch
import org.apache.spark.sql.catalyst.expressions.{Expression, RangeFrame, SortOrder, SpecifiedWindowFrame, WindowExpression, WindowFrame, WindowSpecDefinition}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.types.{TimestampNTZType, TimestampType}

import winops.spark.expressions.UnqualifiedSql

/** Refuses RANGE frames over a stream that Spark's analyzer refuses without saying what to write:
  * a number as the distance of timestamps, and a distance with several columns in ORDER BY.
  */
private[spark] object CheckRangeFrames extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    if (plan.containsPattern(TreePattern.WINDOW_EXPRESSION) && OverSettings.isEnabled) {
      plan.foreach { node =>
        if (node.isStreaming) node.expressions.foreach(_.foreach(check))
      }
    }
    plan
  }

  private def check(expression: Expression): Unit = expression match {
    case WindowExpression(function, window @ WindowSpecDefinition(_, order, frame))
        if window.childrenResolved && order.nonEmpty && isOfDistance(frame) =>
      window.checkInputDataTypes() match {
        case DataTypeMismatch(kind, _) =>
          refusal(kind, order).foreach { case (reason, expected) =>
            throw OverRefusal(UnqualifiedSql.of(function), reason, expected).error
          }
        case _ =>
      }
    case _ =>
  }

  private def isOfDistance(frame: WindowFrame): Boolean = frame match {
    case range: SpecifiedWindowFrame => range.frameType == RangeFrame && range.isValueBound
    case _ => false
  }

  private def refusal(kind: String, order: Seq[SortOrder]): Option[(String, String)] = {
    val by = UnqualifiedSql.of(order.head.child)
    val frame = s"(ORDER BY $by RANGE BETWEEN INTERVAL 10 MINUTES PRECEDING AND CURRENT ROW)"
    (kind, order.head.dataType) match {
      case ("RANGE_FRAME_INVALID_TYPE", TimestampType | TimestampNTZType) =>
        Some(
          s"a number as in rangeBetween(-600, 0) is no distance of the timestamps of $by" ->
            s"""Write an interval in SQL, such as expr("avg(price) OVER $frame")""")
      case ("RANGE_FRAME_MULTI_ORDER", TimestampType | TimestampNTZType) =>
        Some(
          "a RANGE frame with an interval takes one column in ORDER BY" ->
            (s"Write ORDER BY $by alone. If the function depends on the order of rows with equal times, " +
              s"write ${OverForm.withoutOrder(by)}"))
      case _ => None
    }
  }
}
