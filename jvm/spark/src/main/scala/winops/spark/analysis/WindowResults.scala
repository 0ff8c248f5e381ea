package winops.spark.analysis

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._

import winops.spark.expressions.{OfLastArrival, RedactingExpression, WindowAggregate}

/** The results of a keep, as logical and physical plans carry them.
  *
  * @param by
  *   grouping expressions: each combination of their values has results of its own
  * @param values
  *   result expressions over [[WindowAggregate]]s
  * @param columns
  *   output columns of the results
  */
final case class WindowResults(
    by: Seq[Expression],
    values: Seq[Expression],
    columns: Seq[Attribute]) {

  /** Redacts the results: an error in an expression shows no value of a row. */
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

  /** Results over the window contents, or over each part that `by` divides the contents into. */
  def ofContent(aggregates: Aggregates): WindowResults = {
    val keys = aggregates.by.collect { case key: Alias => key.exprId -> key.child }.toMap
    val columns = aggregates.columns.map(_.transform { case column: Attribute =>
      keys.getOrElse(column.exprId, column)
    }.asInstanceOf[NamedExpression])
    WindowResults(aggregates.by.map(unnamed), values(columns), named(columns))
  }

  /** Results beside each row. Drops the grouping columns of the query, because the row itself has
    * them.
    */
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

  /** Removes the alias of an expression. */
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

  /** Returns true if a repeated value does not change the result, so that DISTINCT has no effect.
    */
  private def ignoresRepetition(function: AggregateFunction): Boolean = function match {
    case _: Max | _: Min | _: BitAndAgg | _: BitOrAgg | _: CollectSet | _: First | _: Last => true
    case _ => false
  }
}
