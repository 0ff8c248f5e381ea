package winops.policy

import winops.terms.RowExpression

/** Values that a policy emits instead of its rows. A change deletes the values before the change
  * and inserts the values after the change.
  */
sealed trait Projection {

  /** Returns true if the values are computed over all groups together, and not for each group. */
  def acrossGroups: Boolean

  /** Returns true if only steps that change the number of rows emit values. */
  def postsOnSizeChange: Boolean = false
}

object Projection {

  /** The columns of a select list that has aggregates.
    *
    * @param columns
    *   values of the list with their names
    * @param by
    *   keys of `group by`; if empty, the values are computed over all rows
    */
  final case class Columns(
      columns: Seq[Named],
      by: Seq[RowExpression],
      acrossGroups: Boolean = false)
      extends Projection

  /** A derived-value window of Esper.
    *
    * @param statistic
    *   statistic that the window computes
    * @param of
    *   numeric expressions that the statistic is computed from
    * @param beside
    *   further columns of the output row
    */
  final case class Derived(
      statistic: Statistic,
      of: Seq[RowExpression],
      beside: Seq[Beside],
      acrossGroups: Boolean = false)
      extends Projection {

    /** Esper: the size window posts a number of rows only if the number differs from the one
      * posted before.
      */
    override def postsOnSizeChange: Boolean = statistic == Statistic.Size
  }
}

/** A value with its column name. */
final case class Named(name: String, value: RowExpression)

/** A statistic over the rows of a window. */
sealed trait Statistic

object Statistic {

  /** The number of rows. */
  case object Size extends Statistic

  /** The univariate statistics of one number. */
  case object Uni extends Statistic

  /** The linear regression of the second number on the first. */
  case object Linest extends Statistic

  /** The correlation of two numbers. */
  case object Correl extends Statistic

  /** The average of the first number, weighted by the second. */
  case object WeightedAverage extends Statistic
}

/** Columns beside a statistic. Their values are those of the most recently inserted row, even if
  * that row has left.
  */
sealed trait Beside {

  /** Index of the first character in the policy's text. Equality ignores the offset. */
  def offset: Int
}

object Beside {

  /** All columns of the row. */
  final case class AllColumns()(val offset: Int) extends Beside

  /** One value of the row. */
  final case class Of(column: Named) extends Beside {
    override def offset: Int = column.value.offset
  }
}
