package winops.spark.aggregates

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.types._

import winops.spark.expressions.WindowAggregate

/** Computes the weight of a row: the greatest share that one of its values has in the range of
  * the type in which a function adds up values. If rows weigh less than 1 together, no part of
  * them overflows, so the order of the additions does not matter, but for rounding.
  *
  * NULL and NaN weigh nothing, because they have the same effect in any order. Decimals weigh
  * nothing, because the buffer of a sum is exact ([[WideDecimals]]).
  *
  * @param aggregates
  *   functions of which only those that can overflow are considered
  * @param content
  *   the columns of the row
  */
private[aggregates] final class RowWeight(
    aggregates: Seq[WindowAggregate],
    content: Seq[Attribute]) {
  import RowWeight._

  private val (ofColumns, ofExpressions) =
    aggregates.flatMap(scalesOf).distinct.partition { case (input, _) =>
      input.isInstanceOf[AttributeReference]
    }
  private val columns = ofColumns.map { case (input, scale) =>
    (content.indexWhere(_.semanticEquals(input)), scale)
  }.toArray
  private val expressions = ofExpressions.map(_._2).zipWithIndex.map(_.swap).toArray
  private val values = UnsafeProjection.create(ofExpressions.map(_._1), content)

  /** Returns true if all rows weigh 0. */
  def isZero: Boolean = columns.isEmpty && expressions.isEmpty

  def of(row: InternalRow): Double = {
    val ofColumns = greatest(columns, row, 0.0)
    if (expressions.isEmpty) ofColumns else greatest(expressions, values(row), ofColumns)
  }

  private def greatest(scales: Array[(Int, Scale)], row: InternalRow, atLeast: Double): Double = {
    var most = atLeast
    var i = 0
    while (i < scales.length) {
      val (ordinal, scale) = scales(i)
      if (!row.isNullAt(ordinal)) most = Math.max(most, scale.of(row, ordinal))
      i += 1
    }
    most
  }
}

private object RowWeight {

  /** Divides a value by the range of a type. */
  private sealed trait Scale {
    def of(row: InternalRow, ordinal: Int): Double
  }

  private case object Longs extends Scale {
    override def of(row: InternalRow, ordinal: Int): Double =
      Math.abs(row.getLong(ordinal).toDouble) / Long.MaxValue.toDouble
  }

  private case object Ints extends Scale {
    override def of(row: InternalRow, ordinal: Int): Double =
      Math.abs(row.getInt(ordinal).toDouble) / Int.MaxValue.toDouble
  }

  /** Doubles in a sum. Infinity has the same effect in any order, if nothing overflows. */
  private case object Doubles extends Scale {
    override def of(row: InternalRow, ordinal: Int): Double = {
      val value = Math.abs(row.getDouble(ordinal))
      if (value <= Double.MaxValue) value / Double.MaxValue else 0.0
    }
  }

  /** Doubles in a sum of powers of differences from a mean. */
  private final case class Powers(power: Int) extends Scale {

    /** The sum is at most this multiple of the sum of the powers. */
    private val factor = 1024.0
    private val most = Math.pow(Double.MaxValue / factor, 1.0 / power)

    override def of(row: InternalRow, ordinal: Int): Double = {
      val value = Math.abs(row.getDouble(ordinal))
      if (value.isNaN) 0.0 else Math.pow(value / most, power.toDouble)
    }
  }

  /** Doubles in a product, which can also become too small. */
  private case object Factors extends Scale {
    private val most = 700.0

    override def of(row: InternalRow, ordinal: Int): Double = {
      val logarithm = Math.abs(Math.log(Math.abs(row.getDouble(ordinal))))
      if (logarithm <= Double.MaxValue) logarithm / most else 0.0
    }
  }

  /** The inputs of a function that can overflow, each with the range of its sum. */
  private def scalesOf(aggregate: WindowAggregate): Seq[(Expression, Scale)] =
    aggregate.function match {
      // Such a sum wraps around, to the same value in any order.
      case sum: Sum if sum.dataType == LongType && sum.evalContext.evalMode == EvalMode.LEGACY =>
        Nil
      case sum: Sum => ofSum(aggregate, sum.child, sum.dataType)
      case average: Average =>
        ofSum(aggregate, average.child, average.aggBufferAttributes.head.dataType)
      case _: VariancePop | _: VarianceSamp | _: StddevPop | _: StddevSamp =>
        ofPowers(aggregate, 2)
      case _: Covariance | _: PearsonCorrelation | _: RegrSlope | _: RegrIntercept =>
        ofPowers(aggregate, 2)
      case product: Product => inputOf(aggregate, Seq(product.child), product.child, Factors)
      case _: Min | _: Max | _: MaxMinBy | _: First | _: Last => Nil
      case other: DeclarativeAggregate
          if other.aggBufferAttributes.exists(_.dataType == DoubleType) =>
        ofPowers(aggregate, 4)
      case _ => Nil
    }

  private def ofSum(
      aggregate: WindowAggregate,
      input: Expression,
      sum: DataType): Seq[(Expression, Scale)] = {
    def of(scale: Scale) = inputOf(aggregate, Seq(input), input, scale)
    (input.dataType, sum) match {
      case (LongType, LongType) => of(Longs)
      case (_: DayTimeIntervalType, _) => of(Longs)
      case (_: YearMonthIntervalType, _) => of(Ints)
      case (DoubleType, DoubleType) if !isNarrow(input) => of(Doubles)
      case _ => Nil
    }
  }

  private def ofPowers(aggregate: WindowAggregate, power: Int): Seq[(Expression, Scale)] = {
    val inputs = aggregate.function.children
    inputs
      .filter(input => input.dataType == DoubleType && !isNarrow(input))
      .flatMap(inputOf(aggregate, inputs, _, Powers(power)))
  }

  /** Returns true for values whose fourth powers are far below the greatest double. */
  private def isNarrow(input: Expression): Boolean = input match {
    case Cast(_: Literal, _, _, _) => false
    case Cast(value, _, _, _) =>
      value.dataType.isInstanceOf[NumericType] && value.dataType != DoubleType
    case _ => false
  }

  /** Evaluates an input only if the function does: if the filter is true and all inputs before it
    * are not NULL.
    */
  private def inputOf(
      aggregate: WindowAggregate,
      all: Seq[Expression],
      input: Expression,
      scale: Scale): Seq[(Expression, Scale)] = {
    val nothing = Literal(null, input.dataType)
    val before = all.takeWhile(_ ne input).map(IsNotNull(_): Expression)
    val isEvaluated = (aggregate.filter.toSeq ++ before).reduceOption[Expression](And(_, _))
    val isColumn = input.isInstanceOf[AttributeReference]
    val value = isEvaluated.filterNot(_ => isColumn).fold(input)(If(_, input, nothing))
    Seq(value -> scale)
  }
}
