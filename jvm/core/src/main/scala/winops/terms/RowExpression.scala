package winops.terms

/** An expression over the columns of a row. The core carries it and never evaluates it. */
sealed trait RowExpression {

  /** The expression in Spark SQL. */
  def sql: String

  /** Index of the first character in the policy's text. Equality ignores the offset. */
  def offset: Int

  /** Returns true if the expression is a column. */
  def isColumn: Boolean = false
}

object RowExpression {

  /** A column by its exact name. The name can contain any characters. */
  final case class Column(name: String)(val offset: Int) extends RowExpression {
    override def sql: String = s"`${name.replace("`", "``")}`"
    override def isColumn: Boolean = true
  }

  /** Any other expression. */
  final case class Computed(sql: String)(val offset: Int) extends RowExpression
}

/** A sort criterion. Nulls sort below all other values.
  *
  * @param expression
  *   sort expression
  * @param descending
  *   true if larger values come first
  */
final case class SortKey(expression: RowExpression, descending: Boolean)
