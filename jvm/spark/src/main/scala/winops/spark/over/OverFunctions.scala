package winops.spark.over

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.optimizer.ReplaceExpressions
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate => AggregateNode, AnalysisHelper, LocalRelation}
import org.apache.spark.sql.catalyst.trees.TreePattern

import winops.spark.aggregates.AggregateProperties
import winops.spark.expressions.{CommonExpressions, UnqualifiedSql, WindowAggregate}
import winops.spark.plan.{FramedFunction, OffsetValue, PositionFunction}

/** Translates Spark's window functions into those of the operator, and refuses those that a
  * stream cannot have.
  */
private[spark] object OverFunctions {

  /** Translates one function.
    *
    * @param isOfTime
    *   true if the first sort key is an event time
    */
  def of(window: WindowExpression, isOfTime: Boolean): Either[OverRefusal, FramedFunction] = {
    val SpecifiedWindowFrame(kind, lower, upper) = window.windowSpec.frameSpecification match {
      case frame: SpecifiedWindowFrame => frame
      case other => SpecifiedWindowFrame(RowFrame, UnboundedPreceding, other)
    }
    window.windowFunction match {
      case call if isPython(call) =>
        refused(
          call,
          "it is a function in Python",
          "Use a function of Spark SQL or an Aggregator in Scala or Java, or keep(...) with applyInPandas")
      case call if isOfPython(call) =>
        refused(
          call,
          "an argument calls a function in Python",
          "Compute the argument in a column before, as in withColumn(\"y\", f(\"x\")), and name the " +
            "column in the window function")
      case call if call.exists(_.isInstanceOf[SubqueryExpression]) =>
        refused(call, "it has a subquery", "Compute the value of the subquery before OVER")
      case call if isUndetermined(call) =>
        refused(
          call,
          "an argument is not deterministic",
          "Use expressions that always return the same value for the same rows")
      case call @ (_: NTile | _: PercentRank | _: CumeDist) =>
        refused(
          call,
          "it needs all rows of the partition, and a stream always has more",
          "Use row_number(), rank() or dense_rank(), or an aggregate over the rows of a window such " +
            "as keep(rows, rows=1000, per=...).agg(...)")
      case value: FrameLessOffsetWindowFunction => offset(value)
      case call @ (_: RowNumber | _: Rank | _: DenseRank | _: NthValue) =>
        val position = PositionFunction(call.asInstanceOf[AggregateWindowFunction])
        framed(position, call, kind, lower, upper, isOfTime)
      case AggregateExpression(function, Complete, false, None, _)
          if !function.isInstanceOf[AggregateWindowFunction] =>
        val aggregate = WindowAggregate(replaced(function), isDistinct = false, None)
        framed(aggregate, function, kind, lower, upper, isOfTime)
      case call @ AggregateExpression(_, _, _, Some(_), _) =>
        refused(call, "it has a FILTER", "Write the condition into the argument, in CASE WHEN")
      case call => refused(call, "the operator does not know the function", Alternatives)
    }
  }

  /** Returns true if rows with equal sort keys must have an order for the result to be defined.
    */
  def dependsOnTies(function: FramedFunction): Boolean = function.child match {
    case PositionFunction(_: Rank | _: DenseRank, _) => false
    case WindowAggregate(aggregate, _, _) =>
      function.isOfRows ||
      !AggregateProperties.of(aggregate).order.isWithin(AggregateProperties.OfSet)
    case _ => true
  }

  /** Returns true if the results of a function are the same, to the bit, for any order of the
    * rows with equal sort keys.
    */
  def isSameInAnyOrder(function: FramedFunction): Boolean = function.child match {
    case WindowAggregate(aggregate, _, _) =>
      !function.isOfRows &&
      AggregateProperties.of(aggregate).order == AggregateProperties.AnyOrder
    case _ => !dependsOnTies(function)
  }

  /** Returns true if an expression calls a function in Python. */
  def isOfPython(expression: Expression): Boolean =
    expression.exists(_.isInstanceOf[PythonFuncExpression])

  private def isPython(call: Expression): Boolean = call match {
    case AggregateExpression(_: PythonFuncExpression, _, _, _, _) => true
    case _ => call.isInstanceOf[PythonFuncExpression]
  }

  private def framed(
      function: Expression,
      call: Expression,
      kind: FrameType,
      lower: Expression,
      upper: Expression,
      isOfTime: Boolean): Either[OverRefusal, FramedFunction] =
    FrameBounds.of(call, kind, lower, upper, isOfTime).map { case (first, last) =>
      FramedFunction(function, first, last)
    }

  private def offset(value: FrameLessOffsetWindowFunction): Either[OverRefusal, FramedFunction] =
    value.offset.eval() match {
      case offset: Int =>
        val default =
          if (value.default.dataType == value.dataType) value.default
          else Cast(value.default, value.dataType)
        val ofRow = OffsetValue(value.input, default, offset, value.ignoreNulls)
        Right(FrameBounds.unframed(ofRow))
      case _ => refused(value, "its distance is NULL", "Give a whole number as the distance")
    }

  /** Returns the function with runtime-replaceable and common expressions replaced, which the
    * optimizer does in Spark's own operators only.
    */
  private def replaced(function: AggregateFunction): AggregateFunction = {
    val over = AggregateNode(
      Nil,
      Seq(Alias(AggregateExpression(function, Complete, isDistinct = false), "value")()),
      LocalRelation(function.references.toSeq))
    val plain = AnalysisHelper.allowInvokingTransformsInAnalyzer {
      ReplaceExpressions(over).transformExpressionsUp(CommonExpressions.inPlace)
    }
    plain.expressions
      .flatMap(_.collectFirst { case found: AggregateExpression => found.aggregateFunction })
      .head
  }

  /** Functions such as `first` are non-deterministic only because rows have no order elsewhere,
    * so only arguments are checked.
    */
  private def isUndetermined(call: Expression): Boolean = {
    val arguments = call match {
      case AggregateExpression(function, _, _, filter, _) => function.children ++ filter
      case other => other.children
    }
    arguments.exists(one => !one.deterministic || one.containsPattern(TreePattern.CURRENT_LIKE))
  }

  private val Alternatives =
    "Use an aggregate, lag, lead, first_value, last_value, nth_value, row_number, rank or dense_rank"

  private def refused(
      call: Expression,
      reason: String,
      expected: String): Either[OverRefusal, FramedFunction] =
    Left(OverRefusal(UnqualifiedSql.of(call), reason, expected))
}
