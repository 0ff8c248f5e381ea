package winops.spark.analysis

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{CTERelationDef, LogicalPlan, Project}
import org.apache.spark.sql.types.ArrayType

import winops.spark.internal.WinopsErrors
import winops.spark.plan.JoinForm
import winops.text.dialect.Limits

/** An as-of join of streams with a row that may be behind the time of a row of the left side. The
  * row of the left side waits until all rows within the tolerance have come, and then looks up
  * the rows within the tolerance. It reads all of them, so its cost grows with their number.
  *
  * @param condition
  *   what the match must satisfy, over the columns of both sides
  * @param tolerance
  *   the microseconds that the match may be away from the time
  * @param isNearest
  *   true for the nearest row, and the one before of two that are as near; false for the first
  *   row that satisfies the condition
  * @param leftCondition
  *   what a row of the left side must satisfy to have a match, over its columns
  */
private[spark] final case class AsOfWait(
    left: LogicalPlan,
    right: LogicalPlan,
    keys: Seq[(Expression, Expression)],
    leftTime: Attribute,
    rightTime: Attribute,
    isInner: Boolean,
    condition: Expression,
    tolerance: Long,
    isNearest: Boolean,
    leftCondition: Option[Expression] = None,
    rightConditions: Seq[Expression] = Nil,
    options: AsOfOptions = AsOfOptions())
    extends AsOfPlan {
  import AsOfPlan._

  private val rightOrdinal = right.output.indexWhere(_.exprId == rightTime.exprId)

  override def plan(definitions: Map[Long, CTERelationDef]): LogicalPlan = {
    if (tolerance > maxTolerance) {
      throw WinopsErrors.argument(
        "VALUE",
        "tolerance",
        s"at most '${maxTolerance / MicrosPerDay} days' with the direction " +
          s"${if (isNearest) Nearest else Forward} on streams, and not ${textOf(tolerance)}")
    }
    val rows = answered(
      s"KEEP $length MILLISECONDS",
      timeOf(Add(micros(leftTime), Literal(tolerance)), leftTime),
      rightTime,
      isBefore = false,
      definitions,
      JoinForm(if (isNearest) Nearest else Forward, Some(textOf(tolerance))),
      looksAhead = true)
    val own = rows.own
    val time = own(left.output.indexWhere(_.exprId == leftTime.exprId))
    // Each column is computed once, as the columns above use it several times.
    val near = Alias(filtered(rows.contents)(over(condition, own, _)), "_near")()
    val split = Seq(
      Alias(
        last(filtered(near.toAttribute)(row => LessThanOrEqual(timeIn(row), time))),
        "_before")(),
      Alias(filtered(near.toAttribute)(row => GreaterThanOrEqual(timeIn(row), time)), "_later")())
    val (before, later) = (split.head.toAttribute, split.last.toAttribute)
    val first = timeIn(GetArrayItem(later, Literal(0), failOnError = false))
    // Of several rows at one time, the last one matches.
    val behind = Alias(last(filtered(later)(row => EqualTo(timeIn(row), first))), "_behind")()
    val found =
      if (isNearest) {
        val (one, other) = (before, behind.toAttribute)
        If(isEarlierNearer(timeIn(one), timeIn(other), time), one, other)
      } else behind.toAttribute
    val matched = Alias(
      leftCondition.fold[Expression](found) { test =>
        If(over(test, own, found), found, Literal(null, found.dataType))
      },
      Match)()
    val columns = Seq(Seq(near), split, Seq(before, behind), Seq(matched))
    val computed = columns.foldLeft(rows.rows) { (below, added) =>
      Project(rows.kept ++ added, below)
    }
    joined(computed, rows, matched.toAttribute, mayBeLate = true)
  }

  /** The length of the window in milliseconds. Its rows leave at whole milliseconds. */
  private def length: Long = sides * (tolerance / AsOfWait.MicrosPerMilli + 1) + 1

  /** The greatest tolerance whose window is not too long, in whole days. */
  private def maxTolerance: Long =
    (Limits.MaxMicros / MicrosPerDay - 1) / sides * MicrosPerDay

  /** The number of tolerances that the window is long. */
  private def sides: Long = if (isNearest) 2L else 1L

  private def timeIn(row: Expression): Expression = GetStructField(row, rightOrdinal)

  private def filtered(rows: Expression)(test: Expression => Expression): Expression = {
    val element = rows.dataType.asInstanceOf[ArrayType].elementType
    val row = NamedLambdaVariable("row", element, nullable = false)
    ArrayFilter(rows, LambdaFunction(test(row), Seq(row)))
  }

  private def last(rows: Expression): Expression = GetArrayItem(
    rows,
    Subtract(Size(rows, legacySizeOfNull = false), Literal(1)),
    failOnError = false)
}

private[spark] object AsOfWait {
  private val MicrosPerMilli = 1000L
}
