package winops.spark.analysis

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, NamedExpression}

/** Aggregates of the rows in a window.
  *
  * @param by
  *   grouping expressions: each combination of their values has aggregates of its own; empty for
  *   one set of aggregates over all rows
  * @param columns
  *   output columns, over AggregateExpressions, `by` and OfLastArrival
  */
final case class Aggregates(by: Seq[NamedExpression], columns: Seq[NamedExpression]) {

  /** Drops the columns that have the name of an attribute in `others`. */
  def without(others: Seq[Expression]): Aggregates = {
    val names = others.collect { case other: Attribute => other.name }
    copy(columns = columns.filterNot(column => names.contains(column.name)))
  }
}
