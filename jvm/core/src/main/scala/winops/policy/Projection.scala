package winops.policy

/** Projection: what is told of the rows that a policy keeps, instead of the rows themselves: the
  * values before and after each change.
  */
sealed trait Projection {

  /** Whether the values are those of all groups together, and not of each. */
  def acrossGroups: Boolean

  /** Whether values are told only by steps that change the number of rows. */
  def postsOnSizeChange: Boolean = false
}

object Projection {

  /** Columns of a select list that has aggregates.
    *
    * @param by
    *   the keys of `group by`; none means one value for all rows
    */
  final case class Columns(
      columns: Seq[Named],
      by: Seq[RowExpression],
      acrossGroups: Boolean = false)
      extends Projection

  /** A derived-value window.
    *
    * @param of
    *   the numbers that the statistic is computed of
    * @param beside
    *   what stands beside the statistic's own columns
    */
  final case class Derived(
      statistic: Statistic,
      of: Seq[RowExpression],
      beside: Seq[Beside],
      acrossGroups: Boolean = false)
      extends Projection {

    /** Esper: a number of rows is posted when it differs from the one posted before. */
    override def postsOnSizeChange: Boolean = statistic == Statistic.Size
  }
}

/** A value and what it is called. */
final case class Named(name: String, value: RowExpression)

/** What is computed of numbers of rows. */
sealed trait Statistic

object Statistic {

  /** How many rows there are. */
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

/** What stands beside a statistic: of the row that came in last, also when it has left. */
sealed trait Beside {

  /** The place of its first character in the policy's text; equality does not look at it. */
  def offset: Int
}

object Beside {
  final case class AllColumns()(val offset: Int) extends Beside

  final case class Of(column: Named) extends Beside {
    override def offset: Int = column.value.offset
  }
}
