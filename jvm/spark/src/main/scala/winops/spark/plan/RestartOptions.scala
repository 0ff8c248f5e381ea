package winops.spark.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Literal}
import org.apache.spark.sql.winops.internal.Catalyst

import winops.window.time.Clock

/** The arguments of a call that matter only at a restart with another query. They are not part of
  * the query's identity.
  *
  * @param carries
  *   true if the rows that are held may enter another window
  * @param fill
  *   the values of stored rows in columns that the restart adds, by the names of the columns, one
  *   for each type of a column of that name; NULL in other columns
  * @param hasHistory
  *   true if a table can supply the rows that the state lacks
  * @param isAbove
  *   true if the operator processes the output of another one, so that no table can supply the
  *   rows that its state lacks
  * @param former
  *   the plan of the query that stored the rows, in tasks that let them enter another window
  */
final case class RestartOptions(
    carries: Boolean = false,
    fill: Map[String, Seq[Expression]] = Map.empty,
    hasHistory: Boolean = false,
    isAbove: Boolean = false,
    former: Option[StoredPlans] = None) {

  /** The value that stored rows have in a column that the restart adds. */
  def valueIn(column: Attribute): Expression = {
    val dataType = Catalyst.asNullable(column.dataType)
    fill
      .getOrElse(column.name, Nil)
      .find(value => Catalyst.asNullable(value.dataType) == dataType)
      .getOrElse(Literal(null, column.dataType))
  }

  /** The names of the former windows that are not among these names of windows. */
  def removedWindows(names: Seq[String]): Seq[String] =
    former.toSeq.flatMap(_.keepOf(Clock.Never).spec.policy.windowNames).diff(names)

  /** The options as text, from which a plan gets its hash. */
  def text: String =
    (carries.toString +: fill.toSeq.sortBy(_._1).map { case (name, values) =>
      s"$name=${values.map(_.sql).mkString(",")}"
    }).mkString(" ")
}
