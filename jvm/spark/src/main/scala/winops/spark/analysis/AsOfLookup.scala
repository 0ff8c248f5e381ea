package winops.spark.analysis

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{CTERelationDef, LogicalPlan, Project}

import winops.spark.plan.JoinForm

/** An as-of join with the newest row that is not behind the time of a row of the left side: the
  * row looks up a window of one row for each key.
  *
  * @param isExact
  *   true if a row of the same time matches
  * @param condition
  *   what the match must satisfy too, over the columns of both sides
  * @param isForward
  *   true if the match is the first row that is not before the time; only for tables, whose time
  *   can run backwards
  */
private[spark] final case class AsOfLookup(
    left: LogicalPlan,
    right: LogicalPlan,
    keys: Seq[(Expression, Expression)],
    leftTime: Attribute,
    rightTime: Attribute,
    isExact: Boolean,
    isInner: Boolean,
    condition: Option[Expression],
    isForward: Boolean = false,
    rightConditions: Seq[Expression] = Nil,
    options: AsOfOptions = AsOfOptions())
    extends AsOfPlan {
  import AsOfPlan._

  override def plan(definitions: Map[Long, CTERelationDef]): LogicalPlan = {
    val rows = answered(
      AsOfLookup.Newest,
      ordered(leftTime),
      ordered(rightTime),
      isBefore = !isExact,
      definitions,
      JoinForm(if (isForward) Forward else Backward, allowsExact = Some(isExact)))
    val found = GetArrayItem(rows.contents, Literal(0), failOnError = false)
    val tested = condition.fold[Expression](found) { test =>
      If(over(test, rows.own, found), found, Literal(null, found.dataType))
    }
    val matched = Alias(tested, Match)()
    joined(Project(rows.kept :+ matched, rows.rows), rows, matched.toAttribute, mayBeLate = false)
  }

  /** The time, or one that falls when the time rises. */
  private def ordered(time: Attribute): Expression =
    if (isForward) timeOf(UnaryMinus(micros(time)), time) else time
}

private[spark] object AsOfLookup {
  private val Newest = "KEEP 1 ROW"
}
