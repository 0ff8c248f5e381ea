package winops.spark.expressions

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}

import winops.spark.row.{KeyTypes, SortKeys, StoredRows, StoredValues}
import winops.terms.{RowExpression, SortKey}
import winops.window.expression.{Evaluator, RowCondition, RowKey, RowNumber}

/** Evaluates a policy's expressions on the stored rows of the open group. A task has one
  * instance, which serves all of its groups and holds no state of a group.
  *
  * @param expressions
  *   the resolved expressions of the policy
  * @param content
  *   the columns of a stored row
  * @param rows
  *   the rows of the open group
  */
final class RowEvaluator(
    expressions: Seq[PolicyExpression],
    content: Seq[Attribute],
    rows: StoredRows)
    extends Evaluator {
  private val meanings = expressions.map { expression =>
    (expression.role: Role, expression.source) -> expression.child
  }.toMap

  override def key(expressions: Seq[RowExpression]): RowKey = {
    val normalized = expressions.map(key => KeyTypes.normalized(meaning(Role.Key, key)))
    val values = new StoredValues(normalized, content, rows)
    // The projection reuses the bytes of its result, so the key is a copy.
    new RedactingEvaluator(expressions).key(ordinal => values.of(ordinal).copy().getBytes)
  }

  override def sortKey(by: Seq[SortKey]): RowKey = {
    val criteria = by.map(key => SortKeys.normalized(meaning(Role.SortKey, key.expression)))
    val values = new StoredValues(criteria, content, rows)
    val keys = new SortKeys(criteria.map(_.dataType).zip(by.map(_.descending)))
    new RedactingEvaluator(by.map(_.expression)).key(ordinal => keys.of(values.of(ordinal)))
  }

  override def timestamp(expression: RowExpression): RowNumber =
    new RedactingEvaluator(Seq(expression))
      .number(RowNumbers.timestamp(meaning(Role.Timestamp, expression), content, rows))

  override def number(expression: RowExpression): RowNumber =
    new RedactingEvaluator(Seq(expression))
      .number(RowNumbers.number(meaning(Role.Number, expression), content, rows))

  override def condition(expression: RowExpression): RowCondition =
    new RedactingEvaluator(Seq(expression))
      .condition(WindowCondition(meaning(Role.Condition, expression), content, rows))

  private def meaning(role: Role, expression: RowExpression): Expression =
    meanings.getOrElse(
      (role, expression),
      throw new IllegalArgumentException(s"${expression.sql} has no meaning as a $role"))
}
