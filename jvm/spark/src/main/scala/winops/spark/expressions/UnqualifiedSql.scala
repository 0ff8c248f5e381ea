package winops.spark.expressions

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}

/** The SQL of an expression with unqualified column names, as the user has written it. */
object UnqualifiedSql {
  def of(expression: Expression): String =
    expression.transform { case column: Attribute => column.withQualifier(Nil) }.sql
}
