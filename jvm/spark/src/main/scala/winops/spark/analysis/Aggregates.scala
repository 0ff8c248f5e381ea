package winops.spark.analysis

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, NamedExpression}

/** What is computed of the rows in a window.
  *
  * @param by
  *   values whose distinct combinations have aggregates of their own; none for one of all rows
  * @param columns
  *   what comes out, over AggregateExpressions, `by`, and OfLastArrival
  */
final case class Aggregates(by: Seq[NamedExpression], columns: Seq[NamedExpression]) {

  /** Without the columns that have the name of a column that stands there anyway. */
  def without(others: Seq[Expression]): Aggregates = {
    val names = others.collect { case other: Attribute => other.name }
    copy(columns = columns.filterNot(column => names.contains(column.name)))
  }
}
