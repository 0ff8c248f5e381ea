package winops.spark.aggregates

import java.math.{BigDecimal => JavaBigDecimal, BigInteger}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.types.{Decimal, DecimalType}

import winops.spark.expressions.WindowAggregate
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}

/** Sums of decimals that can have more digits than their type. As in Spark's window functions,
  * such a sum is exact in memory, and only the result is checked for an overflow. Spark's binary
  * rows have NULL in place of too many digits, so these digits are stored behind the row.
  *
  * @param aggregates
  *   functions, of which some are such sums
  * @param attributes
  *   the columns of a buffer of all functions
  */
private[aggregates] final class WideDecimals(
    aggregates: Seq[WindowAggregate],
    attributes: Seq[Attribute]) {
  import WideDecimals._

  /** The ordinals of the sums, with their types. */
  private val sums: Array[(Int, DecimalType)] = aggregates.flatMap { aggregate =>
    sumOf(aggregate.function).map { case (sum, sumType) =>
      (attributes.indexWhere(_.exprId == sum.exprId), sumType)
    }
  }.toArray

  def isEmpty: Boolean = sums.isEmpty

  /** Writes the sums that are NULL in `stored`. */
  def write(buffer: InternalRow, stored: InternalRow, out: ByteWriter): Unit = {
    var i = 0
    while (i < sums.length) {
      val (ordinal, sumType) = sums(i)
      if (stored.isNullAt(ordinal)) {
        val sum = buffer.getDecimal(ordinal, sumType.precision, sumType.scale)
        out.block(sum.toJavaBigDecimal.setScale(sumType.scale).unscaledValue.toByteArray)
      }
      i += 1
    }
  }

  /** Reads what [[write]] has written behind `stored`. */
  def read(buffer: InternalRow, stored: InternalRow, in: ByteReader): Unit = {
    var i = 0
    while (i < sums.length) {
      val (ordinal, sumType) = sums(i)
      if (stored.isNullAt(ordinal)) {
        val digits = in.block()
        if (digits.isEmpty) throw new CorruptStateException("a sum of decimals has no digits")
        val sum = new JavaBigDecimal(new BigInteger(digits), sumType.scale)
        buffer.update(ordinal, Decimal(sum))
      }
      i += 1
    }
  }
}

private[spark] object WideDecimals {

  /** The ordinals of such sums in a buffer of all functions. */
  def ordinals(aggregates: Seq[WindowAggregate]): Seq[Int] = {
    val attributes = aggregates.flatMap(_.function.aggBufferAttributes)
    aggregates.flatMap(one => sumOf(one.function)).map { case (sum, _) =>
      attributes.indexWhere(_.exprId == sum.exprId)
    }
  }

  /** The number of digits by which a sum is wider than its values if the rows of a window cannot
    * make it overflow.
    */
  private val WideEnough = 10

  private def sumOf(function: AggregateFunction): Option[(Attribute, DecimalType)] =
    function match {
      case _: Sum | _: Average =>
        val sum = function.aggBufferAttributes.head
        (function.children.head.dataType, sum.dataType) match {
          case (value: DecimalType, total: DecimalType)
              if total.precision - value.precision < WideEnough =>
            Some(sum -> total)
          case _ => None
        }
      case _ => None
    }
}
