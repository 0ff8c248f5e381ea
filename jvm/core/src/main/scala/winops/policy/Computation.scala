package winops.policy

import winops.terms.Wording._
import winops.terms.RowExpression

/** Writes the clause of a description that names the values computed from the rows. */
private[policy] object Computation {
  def of(projection: Projection): String = {
    val what = projection match {
      case Projection.Columns(columns, by, _) => s"computes ${named(columns)}${grouped(by)}"
      case Projection.Derived(statistic, of, beside, _) =>
        s"computes ${values(statistic, of.map(shown))}${extra(beside)}"
    }
    if (projection.acrossGroups) s"$what, over all groups together" else what
  }

  private def values(statistic: Statistic, of: Seq[String]): String = (statistic, of) match {
    case (Statistic.Size, _) => "the number of rows"
    case (Statistic.Uni, _) =>
      s"the count, total, average, variance and standard deviations of ${of.mkString}"
    case (Statistic.Linest, Seq(x, y)) => s"the linear regression of $y on $x"
    case (Statistic.Correl, _) => s"the correlation of ${enumerated(of)}"
    case (Statistic.WeightedAverage, Seq(x, weight)) =>
      s"the average of $x weighted by $weight"
    case _ => throw new IllegalArgumentException(s"$statistic of ${of.size} numbers")
  }

  private def extra(beside: Seq[Beside]): String = {
    val columns = beside.map {
      case _: Beside.AllColumns => "all columns"
      case Beside.Of(column) => shown(column.value)
    }
    if (columns.isEmpty) "" else s", with ${enumerated(columns)} of the row that arrived last"
  }

  private def named(columns: Seq[Named]): String = enumerated(columns.map {
    case Named(name, column: RowExpression.Column) if column.name == name => shown(column)
    case Named(name, value) => s"${shown(value)} as ${shown(RowExpression.Column(name)(0))}"
  })

  private def grouped(by: Seq[RowExpression]): String =
    if (by.isEmpty) "" else s" for each ${listed(by)}"
}
