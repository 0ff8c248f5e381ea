package winops.spark.expressions

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}

/** The SQL of an expression as the user wrote it, without the names that tables got on the way.
  */
object UnqualifiedSql {
  def of(expression: Expression): String =
    expression.transform { case column: Attribute => column.withQualifier(Nil) }.sql
}
