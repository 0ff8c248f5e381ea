package winops.spark.expressions

import org.apache.spark.sql.catalyst.expressions.{Attribute, Cast, Expression, UnsafeRow}
import org.apache.spark.sql.types._

import winops.spark.row.{StoredRows, StoredValues}
import winops.window.expression.RowNumber
import winops.window.time.Clock

/** Reads numbers and timestamps from stored rows. */
private[spark] object RowNumbers {

  /** The greatest absolute instant in milliseconds, some 73 million years after 1970. Instants
    * beyond it are clamped, so that an interval can be added to any timestamp.
    */
  val FarthestMillis: Long = Long.MaxValue / 4

  /** A timestamp in milliseconds. Numbers are truncated to whole milliseconds, timestamps rounded
    * down to them. NaN and infinity count as missing.
    */
  def timestamp(expression: Expression, content: Seq[Attribute], rows: StoredRows): RowNumber = {
    val values = new Values(expression, content, rows)
    values.dataType match {
      case TimestampType | TimestampNTZType =>
        new Timestamps(values) {
          override protected def millis(row: UnsafeRow): Long =
            Clock.floorToMillis(row.getLong(0))
        }
      case DoubleType =>
        new Timestamps(values) {
          override def isMissing(ordinal: Long): Boolean = {
            val row = values.of(ordinal)
            row.isNullAt(0) || !java.lang.Double.isFinite(row.getDouble(0))
          }
          // A value out of range becomes the greatest or the least Long.
          override protected def millis(row: UnsafeRow): Long = row.getDouble(0).toLong
        }
      case decimal: DecimalType =>
        new Timestamps(values) {
          override protected def millis(row: UnsafeRow): Long = wholeOf(row, decimal)
        }
      case _ =>
        new Timestamps(values) {
          override protected def millis(row: UnsafeRow): Long = row.getLong(0)
        }
    }
  }

  /** A number, or a timestamp in microseconds. */
  def number(expression: Expression, content: Seq[Attribute], rows: StoredRows): RowNumber = {
    val values = new Values(expression, content, rows)
    values.dataType match {
      case DoubleType =>
        new Numbers(values) {
          override def isMissing(ordinal: Long): Boolean = {
            val row = values.of(ordinal)
            row.isNullAt(0) || row.getDouble(0).isNaN
          }
          override def whole(ordinal: Long): Long = values.of(ordinal).getDouble(0).toLong
          override def real(ordinal: Long): Double = values.of(ordinal).getDouble(0)
        }
      case decimal: DecimalType =>
        new Numbers(values) {
          override def whole(ordinal: Long): Long = wholeOf(values.of(ordinal), decimal)
          override def real(ordinal: Long): Double =
            values.of(ordinal).getDecimal(0, decimal.precision, decimal.scale).toDouble
        }
      case _ =>
        new Numbers(values) {
          override def whole(ordinal: Long): Long = values.of(ordinal).getLong(0)
          override def real(ordinal: Long): Double = whole(ordinal).toDouble
        }
    }
  }

  /** The values of one expression, with numeric types widened to Long and Double. */
  private final class Values(expression: Expression, content: Seq[Attribute], rows: StoredRows) {
    val dataType: DataType = expression.dataType match {
      case ByteType | ShortType | IntegerType => LongType
      case FloatType => DoubleType
      case other => other
    }
    private val widened =
      if (dataType == expression.dataType) expression else Cast(expression, dataType)
    private val values = new StoredValues(Seq(widened), content, rows)

    def of(ordinal: Long): UnsafeRow = values.of(ordinal)
  }

  private abstract class Numbers(values: Values) extends RowNumber {
    override def isMissing(ordinal: Long): Boolean = values.of(ordinal).isNullAt(0)
  }

  private abstract class Timestamps(values: Values) extends Numbers(values) {
    protected def millis(row: UnsafeRow): Long

    override def whole(ordinal: Long): Long =
      Math.max(-FarthestMillis, Math.min(FarthestMillis, millis(values.of(ordinal))))

    override def real(ordinal: Long): Double = whole(ordinal).toDouble
  }

  /** Returns a decimal without its fraction, clamped to the range of Long. */
  private def wholeOf(row: UnsafeRow, dataType: DecimalType): Long = {
    val whole = row
      .getDecimal(0, dataType.precision, dataType.scale)
      .toJavaBigDecimal
      .toBigInteger
    if (whole.bitLength < java.lang.Long.SIZE) whole.longValue
    else if (whole.signum > 0) Long.MaxValue
    else Long.MinValue
  }
}
