package winops.spark.analysis

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._

import winops.spark.expressions.{OfLastArrival, RedactingExpression, WindowAggregate}

/** The results of a keep as its plans carry them.
  *
  * @param by
  *   values whose distinct combinations have results of their own
  * @param values
  *   what is computed, over [[WindowAggregate]]s
  * @param columns
  *   the columns that the values come out in
  */
final case class WindowResults(
    by: Seq[Expression],
    values: Seq[Expression],
    columns: Seq[Attribute]) {

  /** The same, with failures that tell no value of a row. */
  def redacted: WindowResults =
    copy(by = by.map(RedactingExpression.of), values = values.map(ofContent))

  private def ofContent(value: Expression): Expression = ofParts(value) match {
    case part @ (_: WindowAggregate | _: OfLastArrival) => part
    case other => RedactingExpression.of(other)
  }

  private def ofParts(value: Expression): Expression = value match {
    case key if by.exists(_.semanticEquals(key)) => RedactingExpression.of(key)
    case WindowAggregate(function, isDistinct, filter) =>
      WindowAggregate(
        function.mapChildren(ofArgument).asInstanceOf[AggregateFunction],
        isDistinct,
        filter.map(RedactingExpression.ofCondition))
    case OfLastArrival(child) => OfLastArrival(RedactingExpression.of(child))
    case other => other.mapChildren(ofParts)
  }

  private def ofArgument(argument: Expression): Expression = argument match {
    case order: SortOrder => order.mapChildren(ofArgument)
    case value if value.foldable => value
    case value => RedactingExpression.of(value)
  }
}

object WindowResults {
  private[spark] val none: WindowResults = WindowResults(Nil, Nil, Nil)

  /** Results of the whole content, or of the parts that `by` divides it into. */
  def ofContent(aggregates: Aggregates): WindowResults = {
    val keys = aggregates.by.collect { case key: Alias => key.exprId -> key.child }.toMap
    val columns = aggregates.columns.map(_.transform { case column: Attribute =>
      keys.getOrElse(column.exprId, column)
    }.asInstanceOf[NamedExpression])
    WindowResults(aggregates.by.map(unnamed), values(columns), named(columns))
  }

  /** Results beside a row, whose own columns stand for what a query has to group by. */
  def besideRows(aggregates: Aggregates): WindowResults = {
    val columns = aggregates.columns.filter {
      case column: Attribute => !aggregates.by.exists(_.semanticEquals(column))
      case _ => true
    }
    WindowResults(Nil, values(columns), named(columns))
  }

  private def values(columns: Seq[NamedExpression]): Seq[Expression] =
    columns.map(column => overWindow(unnamed(column)))

  private def named(columns: Seq[NamedExpression]): Seq[Attribute] = columns.map { column =>
    AttributeReference(column.name, column.dataType, nullable = true)()
  }

  /** The expression without the name of its column. */
  private[spark] def unnamed(expression: Expression): Expression = expression match {
    case Alias(child, _) => child
    case other => other
  }

  private def overWindow(expression: Expression): Expression = expression.transform {
    case aggregate: AggregateExpression =>
      WindowAggregate(
        aggregate.aggregateFunction,
        aggregate.isDistinct && !ignoresRepetition(aggregate.aggregateFunction),
        aggregate.filter)
  }

  /** Whether a value that comes again changes nothing. */
  private def ignoresRepetition(function: AggregateFunction): Boolean = function match {
    case _: Max | _: Min | _: BitAndAgg | _: BitOrAgg | _: CollectSet | _: First | _: Last => true
    case _ => false
  }
}
