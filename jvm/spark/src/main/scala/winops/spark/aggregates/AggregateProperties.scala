package winops.spark.aggregates

import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.types.{DataType, DoubleType, FloatType}
import org.apache.spark.sql.winops.internal.Catalyst

/** The properties of an aggregate function of Spark that decide how it is computed over windows
  * and frames, and stored between micro-batches.
  *
  * @param buffer
  *   what can be done with the function's buffers instead of a pass over all rows
  * @param order
  *   how the value depends on the order of the rows
  * @param resumption
  *   how rows are added to a buffer that was stored
  */
private[spark] final case class AggregateProperties(
    buffer: AggregateProperties.Buffer,
    order: AggregateProperties.Order,
    resumption: AggregateProperties.Resumption = AggregateProperties.Continued)

private[spark] object AggregateProperties {

  /** The use of a function's buffers. */
  sealed trait Buffer

  /** Merged buffers give the value of all of their rows. Buffers have a bounded size, and are
    * equal after they were stored and read.
    */
  case object Merged extends Buffer

  /** A buffer can be stored and continued. Merged buffers may differ from that of all rows. */
  case object Stored extends Buffer

  /** The buffer grows with its rows, or its bytes are not values only. The function is computed
    * from the rows.
    */
  case object FromRows extends Buffer

  /** The dependence of a value on the order of the rows; each kind allows what the next ones
    * allow.
    */
  sealed abstract class Order(private val rank: Int) {
    def isWithin(other: Order): Boolean = rank <= other.rank
  }

  /** The value is the same to the bit for any order. */
  case object AnyOrder extends Order(0)

  /** The value is the same but for rounding and overflows, and rows can be added in front. */
  case object FoldedEitherWay extends Order(1)

  /** The value is that of a set of rows. Its form, such as the order of an array or the bytes of
    * a sketch, may depend on their order.
    */
  case object OfSet extends Order(2)

  /** The value depends on the order, as that of `first` does. */
  case object OfSequence extends Order(3)

  /** The way in which rows are added to a buffer that was stored. */
  sealed trait Resumption

  /** Rows are added to the buffer as it was read. */
  case object Continued extends Resumption

  /** Rows are added to an empty buffer into which the one that was read is merged. */
  case object MergedIntoEmpty extends Resumption

  /** Rows are added to a buffer of their own, which is merged when the value is read. */
  case object BesideStored extends Resumption

  /** The properties of a function. Those of a user's function follow from the form of its buffer.
    * A function that only a later version of Spark has is computed from the rows.
    */
  def of(function: AggregateFunction): AggregateProperties = ofSpark(function).getOrElse {
    AggregateProperties(
      function match {
        case _: DeclarativeAggregate | _: ImperativeAggregate
            if !isSparks(function) && BufferBytes.areValues(function) =>
          Merged
        case _ => FromRows
      },
      OfSequence)
  }

  /** Returns true for Spark's aggregates, and false for its functions for frames, such as `rank`,
    * each of which has a buffer of values.
    */
  private def isSparks(function: AggregateFunction): Boolean =
    function.getClass.getName.startsWith(AggregatePackage)

  private val AggregatePackage = "org.apache.spark.sql.catalyst.expressions.aggregate."

  /** The properties of a function of Spark's own; None for other functions, and for those that
    * have no line here.
    */
  def ofSpark(function: AggregateFunction): Option[AggregateProperties] = {
    def is(buffer: Buffer, order: Order, resumption: Resumption = Continued) =
      Some(AggregateProperties(buffer, order, resumption))
    function match {
      case _: Min | _: Max => is(Merged, orderOfExtremes(function.dataType))
      case _: Count | _: BitAggregate => is(Merged, AnyOrder)
      case _: Sum | _: Average | _: CentralMomentAgg => is(Merged, FoldedEitherWay)
      case _: Covariance | _: PearsonCorrelation => is(Merged, FoldedEitherWay)
      case _: RegrSlope | _: RegrIntercept => is(Merged, OfSet)
      case _: First | _: Last | _: MaxMinBy => is(Merged, OfSequence)
      case _: CollectSet | _: PercentileBase => is(FromRows, OfSet)
      // Spark 4.1 and 4.2 lack the class.
      case union: Collect[_] if union.prettyName == "collect_union" => is(FromRows, OfSet)
      case _: Collect[_] | _: ListAgg | _: HistogramNumeric => is(FromRows, OfSequence)
      case mode: Mode => is(FromRows, if (mode.reverseOpt.isDefined) OfSet else OfSequence)
      // Merging two of these buffers loses NaN, or breaks ties differently.
      case quantiles: ApproximatePercentile =>
        is(if (isFloating(quantiles.child.dataType)) Stored else Merged, OfSet)
      case _: ApproxTopK => is(FromRows, OfSet)
      case _: ApproxTopKAccumulate | _: ApproxTopKCombine => is(Stored, OfSet)
      case _: HyperLogLogPlusPlus | _: HllSketchAgg | _: HllUnionAgg => is(Merged, OfSet)
      case _: BloomFilterAggregate | _: CountMinSketchAgg => is(Merged, OfSet)
      case _: ThetaSketchAgg => is(Merged, OfSet, BesideStored)
      case _: ThetaUnionAgg => is(Merged, OfSet, MergedIntoEmpty)
      // An intersection of no sketches has no value, so buffers without rows cannot be merged.
      case _: ThetaIntersectionAgg => is(Stored, OfSet, MergedIntoEmpty)
      case _ =>
        ByName.collectFirst {
          case (names, buffer, order) if names(function.prettyName) =>
            AggregateProperties(buffer, order)
        }
    }
  }

  private def ofKinds(names: String*)(kinds: String*): Set[String] =
    (for (name <- names; kind <- kinds) yield s"${name}_agg_$kind").toSet

  /** Functions whose classes are private, or are not in each supported version of Spark. */
  private val ByName: Seq[(Set[String], Buffer, Order)] = Seq(
    (Set("bitmap_construct_agg", "bitmap_or_agg", "bitmap_and_agg"), Merged, OfSet),
    (ofKinds("kll_sketch", "kll_merge")("bigint", "float", "double"), Merged, OfSet),
    (Set("schema_of_variant_agg"), FromRows, OfSet),
    // With a number of values as third argument.
    (Set("max_by", "min_by"), Merged, OfSequence),
    // Merged means of single-precision numbers lose digits.
    (Set("vector_sum", "vector_avg"), Stored, OfSequence),
    (
      ofKinds("tuple_sketch", "tuple_union", "tuple_intersection")("double", "integer"),
      FromRows,
      OfSequence))

  /** The first of equal values is the least or greatest. Equal texts of a collation can differ,
    * and so do 0 and -0, in their sign.
    */
  private def orderOfExtremes(dataType: DataType): Order =
    if (!UnsafeRowUtils.isBinaryStable(dataType)) OfSequence
    else if (Catalyst.exists(dataType)(isFloating)) OfSet
    else AnyOrder

  /** Returns true if a function computes with floating-point numbers. */
  def isFloating(function: AggregateFunction): Boolean =
    (function.aggBufferAttributes ++ function.children).exists(one => isFloating(one.dataType))

  def isFloating(dataType: DataType): Boolean =
    dataType == DoubleType || dataType == FloatType
}
