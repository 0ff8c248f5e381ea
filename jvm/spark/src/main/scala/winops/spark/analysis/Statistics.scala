package winops.spark.analysis

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import winops.policy.Statistic
import winops.spark.expressions.HiddenArguments

/** Builds the statistics of Esper's derived-value windows from Spark's aggregates, with Esper's
  * names, types and special values: a value that is undefined, because there are too few rows or
  * its divisor is 0, is NaN and not NULL. Rows with a NULL among the numbers are not counted.
  */
private[spark] object Statistics {

  /** The names and expressions of the statistic's columns, over numbers that are doubles. */
  def columns(statistic: Statistic, of: Seq[Expression]): Seq[(String, Expression)] =
    (statistic, of) match {
      case (Statistic.Size, Nil) => Seq("size" -> aggregate(Count(Literal(1)), None))
      case (Statistic.Uni, Seq(x)) => univariate(new Numbers(x, of))
      case (Statistic.Linest, Seq(x, y)) => regression(new Numbers(x, of), new Numbers(y, of))
      case (Statistic.Correl, Seq(x, y)) => correlation(new Numbers(x, of), new Numbers(y, of))
      case (Statistic.WeightedAverage, Seq(x, weight)) => weighted(x, weight, of)
      case _ => throw new IllegalArgumentException(s"$statistic of ${of.size} numbers")
    }

  private def univariate(x: Numbers): Seq[(String, Expression)] = Seq(
    "datapoints" -> x.count,
    "total" -> x.sum,
    "average" -> x.average,
    "variance" -> x.sampleVariance,
    "stddev" -> x.sampleDeviation,
    "stddevpa" -> x.deviation)

  /** Computes Esper's columns of a regression, of which some repeat others under another name. */
  private def regression(x: Numbers, y: Numbers): Seq[(String, Expression)] = {
    val slope = quotient(x.covariance(y), x.variance)
    Seq(
      "slope" -> slope,
      "YIntercept" -> Subtract(y.average, Multiply(slope, x.average)),
      "XAverage" -> x.average,
      "XStandardDeviationPop" -> x.deviation,
      "XStandardDeviationSample" -> x.sampleDeviation,
      "XSum" -> x.sum,
      "XVariance" -> x.sampleVariance,
      "YAverage" -> y.average,
      "YStandardDeviationPop" -> y.deviation,
      "YStandardDeviationSample" -> y.sampleDeviation,
      "YSum" -> y.sum,
      "YVariance" -> y.sampleVariance,
      "dataPoints" -> x.count,
      "n" -> x.count,
      "sumX" -> x.sum,
      "sumXSq" -> x.sumOfProducts(x),
      "sumXY" -> x.sumOfProducts(y),
      "sumY" -> y.sum,
      "sumYSq" -> y.sumOfProducts(y))
  }

  /** Computes the correlation from the covariance and the deviations. Spark's `Corr` divides by
    * the root of a product of squares, which overflows.
    */
  private def correlation(x: Numbers, y: Numbers): Seq[(String, Expression)] =
    Seq("correlation" -> quotient(x.covariance(y), Multiply(x.deviation, y.deviation)))

  private def weighted(
      x: Expression,
      weight: Expression,
      of: Seq[Expression]): Seq[(String, Expression)] = {
    val weights = new Numbers(weight, of)
    Seq("average" -> quotient(weights.sumOfProducts(new Numbers(x, of)), weights.sum))
  }

  /** The quotient; NaN if the divisor is 0 or an operand is NULL. */
  private def quotient(dividend: Expression, divisor: Expression): Expression =
    orNaN(HiddenArguments.ofPolicy(Divide(dividend, divisor, EvalMode.LEGACY)))

  private def orNaN(value: Expression): Expression = Coalesce(Seq(value, Literal(Double.NaN)))

  private def aggregate(
      function: AggregateFunction,
      filter: Option[Expression]): AggregateExpression =
    AggregateExpression(function, Complete, isDistinct = false, filter)

  /** The aggregates of one of the numbers of each row.
    *
    * @param all
    *   all numbers of the row, of which none may be NULL
    */
  private final class Numbers(private val value: Expression, all: Seq[Expression]) {
    val count: Expression = of(Count(value))
    val sum: Expression = orZero(Sum(value))
    val average: Expression = orNaN(of(Average(value)))
    val variance: Expression = orNaN(of(VariancePop(value, nullOnDivideByZero = true)))
    val deviation: Expression = orNaN(of(StddevPop(value, nullOnDivideByZero = true)))
    val sampleVariance: Expression = orNaN(of(VarianceSamp(value, nullOnDivideByZero = true)))
    val sampleDeviation: Expression = orNaN(of(StddevSamp(value, nullOnDivideByZero = true)))

    def covariance(other: Numbers): Expression =
      of(CovPopulation(value, other.value, nullOnDivideByZero = true))

    def sumOfProducts(other: Numbers): Expression = orZero(Sum(Multiply(value, other.value)))

    private def of(function: AggregateFunction): Expression = aggregate(function, areThere)

    private def orZero(function: AggregateFunction): Expression =
      Coalesce(Seq(of(function), Literal(0.0)))

    private def areThere: Option[Expression] =
      all.map(IsNotNull(_): Expression).reduceOption(And(_, _))
  }
}
