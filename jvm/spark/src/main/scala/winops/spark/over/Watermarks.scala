package winops.spark.over

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, EventTimeWatermark, Filter, LogicalPlan, Project, SubqueryAlias, View}
import org.apache.spark.sql.types.StructType

import winops.spark.plan.{GroupedOperator, Keep, Over}

/** The watermark of the rows of a streaming plan, and what to write if it is not on a column. */
private[spark] object Watermarks {

  def isOn(expression: Expression): Boolean = expression match {
    case column: Attribute => column.metadata.contains(EventTimeWatermark.delayKey)
    case _ => false
  }

  /** Returns true if `withWatermark` was called for rows of the plan. Spark refuses a second
    * call.
    */
  def isDefinedIn(plan: LogicalPlan): Boolean = plan.exists(_.isInstanceOf[EventTimeWatermark])

  /** The column of the plan's output that carries the watermark. */
  def carrier(plan: LogicalPlan): Option[Attribute] = plan.output.find(isOn)

  /** The streaming `keep` or OVER nearest to the output of the plan. */
  def operator(plan: LogicalPlan): Option[GroupedOperator] = plan.collectFirst {
    case operator: GroupedOperator if operator.isStreaming => operator
  }

  /** The advice for a query that uses a column without a watermark as a time.
    *
    * @param rows
    *   the rows of the query
    * @param column
    *   the column
    * @param use
    *   what to write with the right column, which is `%1$s`
    */
  def advice(rows: LogicalPlan, column: String, use: String): String = carrier(rows) match {
    case Some(carrier) => adviceOf(carrier, use)
    case None if isDefinedIn(rows) => adviceIfLost(rows)
    case None =>
      s"Call withWatermark('$column', '10 seconds') on the rows of the source, with their delay"
  }

  /** The advice to use the column that carries the watermark. */
  def adviceOf(carrier: Attribute, use: String): String = {
    val name = carrier.name
    if (carrier.dataType.isInstanceOf[StructType]) {
      s"The column with the watermark is $name: select window_time($name) as a column, and " +
        use.format(s"window_time($name)")
    } else s"The column with the watermark is $name: ${use.format(name)}"
  }

  /** The advice for rows of which no column carries the watermark. */
  def adviceIfLost(rows: LogicalPlan): String = carrierBelow(rows) match {
    case Some(carrier) =>
      s"Select the column ${carrier.name} too, which carries the watermark"
    case None =>
      operator(rows) match {
        case Some(keep: Keep) if keep.spec.lookup.isDefined =>
          if (keep.spec.emitsRefused) s"Omit late='emit', or $InAnotherQuery"
          else InAnotherQuery.capitalize
        case Some(keep: Keep) if keep.time.isDefined =>
          s"Use the rows of inserts(), whose column ${Keep.ChangeTime} carries the watermark"
        case Some(over: Over) if over.needsFollowing =>
          s"No column carries the watermark behind lead or FOLLOWING: $InAnotherQuery"
        case _ => InAnotherQuery.capitalize
      }
  }

  /** The column that carries the watermark, also if it is not selected. */
  @tailrec def carrierBelow(plan: LogicalPlan): Option[Attribute] = plan match {
    case _ if carrier(plan).isDefined => carrier(plan)
    case _: Project | _: Filter | _: SubqueryAlias | _: View => carrierBelow(plan.children.head)
    case aggregate: Aggregate =>
      aggregate.groupingExpressions.collectFirst {
        case column: Attribute if isOn(column) => column
      }
    case _ => None
  }

  /** The advice for rows that are emitted after the watermark has passed them. */
  val InAnotherQuery: String =
    "write the rows to a table, and call withWatermark in a query of its own that reads it"
}
