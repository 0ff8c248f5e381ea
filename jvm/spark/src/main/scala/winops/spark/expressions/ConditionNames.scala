package winops.spark.expressions

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.types.{BinaryType, LongType, StructField, StructType}

import winops.policy.Category
import winops.spark.row.KeyTypes
import winops.terms.RowExpression
import winops.text.dialect.{Names, Problem}

/** Resolves the names in a condition: the columns of the examined row, and properties of the
  * window. Properties have precedence; a column with the name of a property is accessible as
  * `newest_event.name` or `oldest_event.name`.
  */
private[spark] final class ConditionNames(columns: Seq[Attribute]) {
  private val facts = Fact.all.map { fact =>
    AttributeReference(fact.name, LongType, nullable = false)() -> fact
  }
  private val rows = {
    val fields = columns.map(c => StructField(c.name, c.dataType, c.nullable))
    OtherRow.all.map { row =>
      AttributeReference(row.name, StructType(fields), nullable = false)() -> row
    }
  }
  private val view = AttributeReference("view_reference", BinaryType, nullable = false)()

  private val factOf = AttributeMap(facts)
  private val rowOf = AttributeMap(rows)

  /** Names that always resolve but have no value that a condition could use, except for IS NULL.
    */
  private val opaque = AttributeSet(view +: rows.map(_._1))

  private val builtIn = (facts ++ rows).map(_._1) :+ view

  private val visible = {
    val taken = builtIn.map(_.name).toSet
    columns.filterNot(column => taken(column.name)) ++ builtIn
  }

  /** Resolves a condition. Names other than columns become [[WindowFact]], [[OfRow]] and
    * [[WindowAggregate]].
    */
  def resolve(condition: RowExpression, budget: ExpressionBudget): Either[Problem, Expression] =
    condition match {
      case column: RowExpression.Column => RowExpressions.resolve(column, columns, budget)
      case _ =>
        for {
          resolved <- RowExpressions.resolve(condition, visible, budget)
          replaced = replace(resolved)
          _ <- replaced
            .collectFirst(refusal)
            .map { case (category, expected) =>
              Problem(category, condition.offset, expected)
            }
            .toLeft(())
        } yield replaced
    }

  private def replace(expression: Expression): Expression = expression.transform {
    case IsNull(name: Attribute) if opaque.contains(name) => Literal.FalseLiteral
    case IsNotNull(name: Attribute) if opaque.contains(name) => Literal.TrueLiteral
    case GetStructField(row: Attribute, ordinal, _) if rowOf.contains(row) =>
      OfRow(rowOf(row), columns(ordinal))
    case name: Attribute if factOf.contains(name) => WindowFact(factOf(name))
    case AggregateExpression(function, _, isDistinct, filter, _) =>
      WindowAggregate(function, isDistinct, filter)
  }

  private val refusal: PartialFunction[Expression, (Category, String)] = {
    case row: Attribute if rowOf.contains(row) =>
      (Category.Type, s"expected a column after ${row.name}, as in ${row.name}.${example}")
    case name: Attribute if opaque.contains(name) =>
      (Category.Type, s"expected IS NULL or IS NOT NULL after ${name.name}")
    case aggregate: WindowAggregate if aggregate.exists(isOfWindow) =>
      (Category.Unsupported, "expected an aggregate over columns of the row alone")
    case WindowAggregate(function, true, _)
        if !function.children.forall(value => KeyTypes.acceptDistinct(value.dataType)) =>
      (Category.Type, "expected values after DISTINCT that can be compared for equality")
  }

  private def isOfWindow(expression: Expression): Boolean = expression match {
    case _: OfRow | _: WindowFact => true
    case _ => false
  }

  private def example: String = columns.headOption.fold("name")(c => Names.shown(c.name))
}
