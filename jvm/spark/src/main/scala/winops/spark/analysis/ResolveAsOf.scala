package winops.spark.analysis

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.{And, Attribute, BinaryComparison, EqualTo, Expression, GreaterThan, GreaterThanOrEqual, If, LessThan, LessThanOrEqual, Literal, PredicateHelper, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.logical.{AsOfJoin, CTERelationDef, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.types.DayTimeIntervalType

import winops.spark.expressions.UnqualifiedSql
import winops.spark.plan.InSourceOrder

/** Replaces Spark's [[AsOfJoin]] with a stream on its right side by a lookup. Spark has no
  * operator for it. A node that cannot be replaced stays, and is refused when the stream starts.
  */
object ResolveAsOf extends Rule[LogicalPlan] with PredicateHelper {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.containsPattern(TreePattern.AS_OF_JOIN) || !AsOfSettings.isEnabled) plan
    else {
      val definitions =
        plan.collect { case definition: CTERelationDef => definition.id -> definition }.toMap
      val resolved =
        plan.resolveOperatorsUpWithPruning(_.containsPattern(TreePattern.AS_OF_JOIN)) {
          case join: AsOfJoin if isOverStream(join) =>
            lookupOf(join).fold(_ => join, _.plan(definitions))
        }
      if ((resolved eq plan) || definitions.isEmpty) resolved
      else InSourceOrder.withoutUnused(resolved)
    }

  /** Returns true for a join that Spark cannot run. */
  def isOverStream(join: AsOfJoin): Boolean = join.resolved && join.right.isStreaming

  /** The reason why [[apply]] has left a join. */
  def refusal(join: AsOfJoin): Option[AnalysisException] = lookupOf(join).left.toOption

  private def lookupOf(join: AsOfJoin): Either[AnalysisException, AsOfPlan] = {
    val tests = splitConjunctivePredicates(join.asOfCondition)
    for {
      _ <- Either.cond(join.left.isStreaming, (), AsOfPlan.ofStreamAndTable)
      times <- timesOf(tests.head, join)
      on <- onOf(join)
      lookup <- times.direction match {
        case Backward(isExact) =>
          Right(
            AsOfLookup(
              join.left,
              join.right,
              on.keys,
              times.left,
              times.right,
              isExact,
              join.joinType == Inner,
              (Option.when(tests.size > 1)(join.asOfCondition) ++ on.ofLeft).reduceOption(And),
              rightConditions = on.ofRight))
        case Forward => waiting(join, tests, times, on)
      }
    } yield lookup
  }

  /** The join with the first row behind, which has to have a tolerance. */
  private def waiting(
      join: AsOfJoin,
      tests: Seq[Expression],
      times: Times,
      on: On): Either[AnalysisException, AsOfPlan] =
    tests.tail.flatMap(toleranceIn) match {
      case Seq(tolerance) =>
        Right(
          AsOfWait(
            join.left,
            join.right,
            on.keys,
            times.left,
            times.right,
            join.joinType == Inner,
            join.asOfCondition,
            tolerance,
            isNearest = false,
            leftCondition = on.ofLeft.reduceOption(And),
            rightConditions = on.ofRight))
      case _ =>
        refused(
          s"by ${UnqualifiedSql.of(tests.head)}, the row that matches may come later, and on a " +
            "stream a later row may always come",
          "Match the newest row that is not behind the time of the left row, with >= or >, or " +
            "call asof_join with a tolerance")
    }

  private sealed trait Direction
  private final case class Backward(isExact: Boolean) extends Direction
  private case object Forward extends Direction

  /** The time columns, as the sides have them: with their watermarks. */
  private final case class Times(left: Attribute, right: Attribute, direction: Direction)

  private def timesOf(test: Expression, join: AsOfJoin): Either[AnalysisException, Times] = {
    def isOf(left: Attribute, right: Attribute) =
      join.left.outputSet.contains(left) && join.right.outputSet.contains(right)
    def times(left: Attribute, right: Attribute, direction: Direction) = Right(
      Times(
        join.left.output.find(_.exprId == left.exprId).getOrElse(left),
        join.right.output.find(_.exprId == right.exprId).getOrElse(right),
        direction))
    test match {
      case GreaterThanOrEqual(left: Attribute, right: Attribute) if isOf(left, right) =>
        times(left, right, Backward(isExact = true))
      case LessThanOrEqual(right: Attribute, left: Attribute) if isOf(left, right) =>
        times(left, right, Backward(isExact = true))
      case GreaterThan(left: Attribute, right: Attribute) if isOf(left, right) =>
        times(left, right, Backward(isExact = false))
      case LessThan(right: Attribute, left: Attribute) if isOf(left, right) =>
        times(left, right, Backward(isExact = false))
      case LessThanOrEqual(left: Attribute, right: Attribute) if isOf(left, right) =>
        times(left, right, Forward)
      case GreaterThanOrEqual(right: Attribute, left: Attribute) if isOf(left, right) =>
        times(left, right, Forward)
      case LessThan(left: Attribute, right: Attribute) if isOf(left, right) =>
        times(left, right, Forward)
      case GreaterThan(right: Attribute, left: Attribute) if isOf(left, right) =>
        times(left, right, Forward)
      case _ if isNearest(join, test) =>
        refused(
          "with the direction nearest, the row that matches may come later, and on a stream a " +
            "later row may always come",
          "Call asof_join with the direction nearest and a tolerance")
      case _ =>
        refused(
          s"${UnqualifiedSql.of(test)} does not compare a column of each side",
          "Compute the times in columns of both sides, call withWatermark on them, and match " +
            "with >= or >")
    }
  }

  /** Returns true for the nearest row, which Spark orders by the distance of the times. It asks
    * for no order of the times, and compares them with the tolerance only.
    */
  private def isNearest(join: AsOfJoin, test: Expression): Boolean =
    join.orderExpression.isInstanceOf[If] &&
      (!test.isInstanceOf[BinaryComparison] || toleranceIn(test).isDefined)

  /** The tolerance in microseconds that a condition has. */
  private def toleranceIn(test: Expression): Option[Long] =
    test.collectFirst { case Literal(micros: Long, _: DayTimeIntervalType) => Math.abs(micros) }

  /** The parts of the condition ON, which are joined by AND.
    *
    * @param keys
    *   the pairs of equal expressions over the left and the right side
    * @param ofLeft
    *   the conditions without columns of the right side; a row that does not satisfy them has no
    *   match
    * @param ofRight
    *   the conditions over the right side alone, whose rows must satisfy them to be a match
    */
  private final case class On(
      keys: Seq[(Expression, Expression)],
      ofLeft: Seq[Expression],
      ofRight: Seq[Expression])

  private def onOf(join: AsOfJoin): Either[AnalysisException, On] = {
    def isOf(expression: Expression, side: LogicalPlan) =
      expression.references.nonEmpty && expression.references.subsetOf(side.outputSet)
    val none = On(Nil, Nil, Nil)
    join.condition.toSeq
      .flatMap(splitConjunctivePredicates)
      .foldLeft[Either[AnalysisException, On]](Right(none)) { (known, test) =>
        known.flatMap { on =>
          test match {
            case _ if !CheckKeep.isDeterministic(test) || SubqueryExpression.hasSubquery(test) =>
              refused(
                s"${UnqualifiedSql.of(test)} has a subquery, or a value that may differ when it is " +
                  "computed again",
                "Compute it in a column of its side before the join")
            case EqualTo(one, other) if isOf(one, join.left) && isOf(other, join.right) =>
              Right(on.copy(keys = on.keys :+ (one -> other)))
            case EqualTo(one, other) if isOf(other, join.left) && isOf(one, join.right) =>
              Right(on.copy(keys = on.keys :+ (other -> one)))
            case _ if test.references.subsetOf(join.left.outputSet) =>
              Right(on.copy(ofLeft = on.ofLeft :+ test))
            case _ if isOf(test, join.right) => Right(on.copy(ofRight = on.ofRight :+ test))
            case _ =>
              refused(
                s"${UnqualifiedSql.of(test)} compares the two sides, and is no equality",
                "Write equalities of expressions of the two sides and conditions over one side, " +
                  "joined by AND")
          }
        }
      }
  }

  private def refused(reason: String, expected: String): Either[AnalysisException, Nothing] =
    Left(AsOfPlan.refused(reason, expected))
}
