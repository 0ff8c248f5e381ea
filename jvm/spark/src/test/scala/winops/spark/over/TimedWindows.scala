package winops.spark.over

import java.util.concurrent.TimeUnit

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.InlineCTE
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.types._

/** A query with window functions whose rows come from a table or a stream, ordered by a time: the
  * first ORDER BY column becomes a timestamp, numbers in RANGE frames become seconds (days, if
  * the column is a date), and the final ORDER BY is dropped.
  *
  * @param input
  *   the rows below the lowest window, with the time as their last column
  * @param over
  *   the query over rows with the attributes of `input`
  */
final case class TimedWindows(input: LogicalPlan, over: LogicalPlan => LogicalPlan) {
  def time: Attribute = input.output.last
}

object TimedWindows {
  private val Time = "time_of_order"
  private val NoTime = Literal(0L, TimestampType)

  /** Returns the query with a time; None if the plan has no window function. */
  def of(analyzed: LogicalPlan): Option[TimedWindows] = {
    val plan = withoutFinalOrder(InlineCTE(alwaysInline = true)(analyzed).transform {
      case view: View => view.child
      case named: SubqueryAlias => named.child
    })
    for {
      lowest <- plan.collectFirst { case w: Window if !w.child.exists(isWindow) => w }
    } yield {
      val by = lowest.orderSpec.headOption.map(_.child)
      // A query without a time is put over a stream too: it is to be refused.
      val column = Alias(by.flatMap(timeOf).getOrElse(NoTime), Time)()
      val input = Project(lowest.child.output :+ column, lowest.child)
      TimedWindows(
        input,
        rows =>
          plan.transform { case window: Window =>
            val child = if (window.child eq lowest.child) rows else window.child
            val timed = by.filter(timeOf(_).isDefined)
            timed.fold(window)(ordered(window, _, column.toAttribute)).copy(child = child)
          })
    }
  }

  private def isWindow(plan: LogicalPlan): Boolean = plan.isInstanceOf[Window]

  private def withoutFinalOrder(plan: LogicalPlan): LogicalPlan = plan match {
    case Sort(_, true, child, _) => withoutFinalOrder(child)
    case Project(columns, Sort(_, true, child, _)) => Project(columns, child)
    case other => other
  }

  private def timeOf(order: Expression): Option[Expression] = order.dataType match {
    case TimestampType => Some(order)
    case DateType | TimestampNTZType => Some(Cast(order, TimestampType, Some("UTC")))
    case ByteType | ShortType | IntegerType | LongType =>
      Some(SecondsToTimestamp(Cast(order, LongType)))
    case _: NumericType => Some(SecondsToTimestamp(Cast(order, DoubleType)))
    case _ => None
  }

  private def ordered(window: Window, by: Expression, time: Attribute): Window =
    if (!window.orderSpec.headOption.exists(_.child.semanticEquals(by))) window
    else {
      val order = window.orderSpec.head.copy(child = time) +: window.orderSpec.tail
      val expressions =
        window.windowExpressions.map(_.transform { case WindowExpression(function, spec) =>
          val ranked = function match {
            case rank: RankLike => rank.withOrder(order.map(_.child))
            case other => other
          }
          val frame = spec.frameSpecification.transform {
            case frame @ SpecifiedWindowFrame(RangeFrame, lower, upper) =>
              frame.copy(lower = inTime(lower, by), upper = inTime(upper, by))
          }
          WindowExpression(
            ranked,
            spec.copy(orderSpec = order, frameSpecification = frame.asInstanceOf[WindowFrame]))
        }.asInstanceOf[NamedExpression])
      window.copy(windowExpressions = expressions, orderSpec = order)
    }

  /** A boundary of a RANGE frame as an interval. */
  private def inTime(boundary: Expression, order: Expression): Expression =
    if (boundary.isInstanceOf[SpecialFrameBoundary] || !boundary.foldable) boundary
    else {
      val unit = if (order.dataType == DateType) TimeUnit.DAYS else TimeUnit.SECONDS
      boundary.dataType match {
        case _: NumericType =>
          val offset = Cast(boundary, DoubleType).eval().asInstanceOf[Double]
          Literal((offset * unit.toMicros(1L)).round, DayTimeIntervalType())
        case _ => boundary
      }
    }
}
