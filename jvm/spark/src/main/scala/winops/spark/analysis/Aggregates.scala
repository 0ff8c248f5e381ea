package winops.spark.analysis

import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, NamedExpression}

import winops.spark.expressions.{OfLastArrival, RedactingExpression}

/** Aggregates of the rows in a window.
  *
  * @param by
  *   grouping expressions: each combination of their values has aggregates of its own; empty for
  *   one set of aggregates over all rows
  * @param columns
  *   output columns, over AggregateExpressions, `by` and OfLastArrival
  */
final case class Aggregates(by: Seq[NamedExpression], columns: Seq[NamedExpression]) {

  /** Drops the columns that repeat a group key under its name: the key itself, or its value in
    * the most recently inserted row, which is the same in each row of a group.
    *
    * @param keys
    *   the group key expressions with the names of their columns
    */
  def withoutKeys(keys: Seq[(String, Expression)]): Aggregates =
    copy(columns = columns.filterNot(column =>
      keys.exists { case (name, key) =>
        name == column.name && Aggregates.isSame(key, Aggregates.ofRow(column))
      }))
}

private[spark] object Aggregates {

  /** Returns true if two expressions are the same, redacted or not. */
  def isSame(one: Expression, other: Expression): Boolean =
    plain(one).semanticEquals(plain(other))

  private def plain(expression: Expression): Expression = expression.transform {
    case RedactingExpression(child, _) => child
  }

  /** The value that a column has in a row, without its name. */
  private def ofRow(column: NamedExpression): Expression = column match {
    case Alias(OfLastArrival(value), _) => value
    case Alias(value, _) => value
    case other => other
  }
}
