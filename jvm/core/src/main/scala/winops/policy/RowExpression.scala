package winops.policy

/** An expression over the columns of a row. The core carries it and never evaluates it. */
sealed trait RowExpression {

  /** The expression in the words of Spark SQL. */
  def sql: String

  /** The place of its first character in the policy's text; equality does not look at it. */
  def offset: Int
}

object RowExpression {

  /** A column by its exact name, whatever characters that has. */
  final case class Column(name: String)(val offset: Int) extends RowExpression {
    override def sql: String = s"`${name.replace("`", "``")}`"
  }

  /** Anything else. */
  final case class Computed(sql: String)(val offset: Int) extends RowExpression
}

/** A sort criterion. Nulls are less than everything. */
final case class SortKey(expression: RowExpression, descending: Boolean)
