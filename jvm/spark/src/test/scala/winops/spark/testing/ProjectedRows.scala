package winops.spark.testing

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeMap, BindReferences, Expression, Literal, NamedExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression

import winops.spark.analysis.Aggregates
import winops.spark.expressions.{AggregateEvaluator, OfLastArrival, WindowAggregate}

/** Aggregates over a complete list of rows, recomputed and interpreted. */
final class ProjectedRows(aggregates: Aggregates, columns: Seq[Attribute]) {
  private type Values = Map[String, Any]

  /** One result for each combination of keys, in the order of first occurrence.
    *
    * @param last
    *   the most recently inserted row, which may be deleted already
    */
  def of(rows: Seq[InternalRow], last: Option[InternalRow]): Seq[Values] = {
    val keys = aggregates.by.map(meaning)
    def keyOf(row: InternalRow) = keys.map(value(_, row))
    val groups = if (keys.isEmpty) Seq(Nil) else rows.map(keyOf).distinct
    groups.map { key =>
      val known = AttributeMap(aggregates.by.map(_.toAttribute).zip(key))
      val members = rows.filter(keyOf(_) == key)
      aggregates.columns
        .map(column => column.name -> result(meaning(column), known, members, last))
        .toMap
    }
  }

  private def result(
      column: Expression,
      keys: AttributeMap[Any],
      rows: Seq[InternalRow],
      last: Option[InternalRow]): Any = {
    def known(part: Expression): Expression = part match {
      case AggregateExpression(function, _, isDistinct, filter, _) =>
        val evaluator =
          new AggregateEvaluator(WindowAggregate(function, isDistinct, filter), columns)
        evaluator.clear()
        rows.foreach(evaluator.add)
        Literal(evaluator.result, function.dataType)
      case OfLastArrival(child) => Literal(last.map(value(child, _)).orNull, child.dataType)
      case key: Attribute => Literal(keys(key), key.dataType)
      case other => other.mapChildren(known)
    }
    known(column).eval(InternalRow.empty)
  }

  private def meaning(named: NamedExpression): Expression = named match {
    case Alias(value, _) => value
    case column => column
  }

  private def value(expression: Expression, row: InternalRow): Any =
    BindReferences.bindReference(expression, columns).eval(row)
}
