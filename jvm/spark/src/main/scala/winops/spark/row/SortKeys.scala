package winops.spark.row

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.{CollationKey, Expression, SpecializedGetters}
import org.apache.spark.sql.types._
import org.apache.spark.sql.winops.internal.Catalyst

/** Encodes the values of sort keys as bytes whose unsigned lexicographic order is the order of
  * the values, nulls first and NaN last. All bits of a descending key are inverted. No encoded
  * value is a prefix of another one, so the encodings of several keys are concatenated.
  *
  * @param criteria
  *   the type of each sort key, and true if it is descending
  */
private[spark] final class SortKeys(criteria: Seq[(DataType, Boolean)]) {
  import SortKeys._

  private val writers = criteria.map { case (dataType, _) => writer(dataType) }.toArray
  private val descending = criteria.map(_._2).toArray
  private val out = new Out

  /** Encodes a row whose columns are the sort keys, in their normalized form. A string of a
    * collation is then its collation key, a binary, whose bytes have the order of the strings.
    */
  def of(row: SpecializedGetters): Array[Byte] = {
    out.clear()
    var i = 0
    while (i < writers.length) {
      val start = out.length
      if (row.isNullAt(i)) out.byte(Null)
      else {
        out.byte(Value)
        writers(i).write(row, i, out)
      }
      if (descending(i)) out.turnOver(start)
      i += 1
    }
    out.toArray
  }
}

private[spark] object SortKeys {

  /** Returns true if rows can be sorted by values of the type. */
  def accept(dataType: DataType): Boolean = dataType match {
    case _: StringType | _: NumericType | BooleanType | DateType | TimestampType |
        TimestampNTZType | BinaryType =>
      true
    case _ => false
  }

  /** Returns the normalized form of a sort key: -0.0 becomes 0.0, every NaN the same NaN, and a
    * string its collation key unless strings of its type sort by their bytes.
    */
  def normalized(key: Expression): Expression = key.dataType match {
    case text: StringType if !Catalyst.sortsByBytes(text) => CollationKey(key)
    case _ => Catalyst.normalizeFloatingNumbers(key)
  }

  private val Null = 0
  private val Value = 1
  private val LargeDecimalBytes = 16

  private trait Writer {
    def write(row: SpecializedGetters, column: Int, out: Out): Unit
  }

  private def writer(dataType: DataType): Writer = dataType match {
    case BooleanType => (row, column, out) => out.byte(if (row.getBoolean(column)) 1 else 0)
    case ByteType => (row, column, out) => out.whole(row.getByte(column).toLong, 1)
    case ShortType => (row, column, out) => out.whole(row.getShort(column).toLong, 2)
    case IntegerType | DateType => (row, column, out) => out.whole(row.getInt(column).toLong, 4)
    case LongType | TimestampType | TimestampNTZType =>
      (row, column, out) => out.whole(row.getLong(column), 8)
    case FloatType =>
      (row, column, out) => {
        val bits = java.lang.Float.floatToIntBits(row.getFloat(column))
        out.whole((bits ^ ((bits >> 31) & Int.MaxValue)).toLong, 4)
      }
    case DoubleType =>
      (row, column, out) => {
        val bits = java.lang.Double.doubleToLongBits(row.getDouble(column))
        out.whole(bits ^ ((bits >> 63) & Long.MaxValue), 8)
      }
    case decimal: DecimalType if decimal.precision <= Decimal.MAX_LONG_DIGITS =>
      (row, column, out) => {
        val value = row.getDecimal(column, decimal.precision, decimal.scale)
        out.whole(value.toUnscaledLong, 8)
      }
    case decimal: DecimalType =>
      (row, column, out) => {
        val value = row.getDecimal(column, decimal.precision, decimal.scale)
        val unscaled = value.toJavaBigDecimal.setScale(decimal.scale).unscaledValue
        out.whole(unscaled.toByteArray, LargeDecimalBytes)
      }
    case _: StringType => (row, column, out) => out.text(row.getUTF8String(column).getBytes)
    case BinaryType => (row, column, out) => out.text(row.getBinary(column))
    case other => throw new IllegalArgumentException(s"no sort key of ${other.sql}")
  }

  /** A growing byte buffer. */
  private final class Out {
    private var bytes = new Array[Byte](64)
    private var end = 0

    def length: Int = end
    def clear(): Unit = end = 0
    def toArray: Array[Byte] = Arrays.copyOf(bytes, end)

    def byte(value: Int): Unit = {
      ensure(1)
      bytes(end) = value.toByte
      end += 1
    }

    /** Writes the low `size` bytes of a number that fits in them, highest first, with the sign
      * bit inverted so that negative numbers sort first.
      */
    def whole(value: Long, size: Int): Unit = {
      ensure(size)
      val start = end
      var shift = (size - 1) * java.lang.Byte.SIZE
      while (shift >= 0) {
        bytes(end) = (value >> shift).toByte
        end += 1
        shift -= java.lang.Byte.SIZE
      }
      turnSign(start)
    }

    /** Writes a number of at most `size` bytes, highest first, in the format of the other
      * [[whole]].
      */
    def whole(value: Array[Byte], size: Int): Unit = {
      ensure(size)
      val start = end
      end += size
      Arrays.fill(bytes, start, end, if (value(0) < 0) -1.toByte else 0.toByte)
      System.arraycopy(value, 0, bytes, end - value.length, value.length)
      turnSign(start)
    }

    /** Writes bytes of any length: two zeros end them, and a zero among them is followed by 255.
      */
    def text(value: Array[Byte]): Unit = {
      var i = 0
      while (i < value.length) {
        byte(value(i).toInt)
        if (value(i) == 0) byte(255)
        i += 1
      }
      byte(0)
      byte(0)
    }

    /** Inverts all bits from `start` on. */
    def turnOver(start: Int): Unit = {
      var i = start
      while (i < end) {
        bytes(i) = (~bytes(i)).toByte
        i += 1
      }
    }

    private def turnSign(at: Int): Unit = bytes(at) = (bytes(at) ^ 0x80).toByte

    private def ensure(more: Int): Unit = {
      val needed = Math.addExact(end, more)
      if (needed > bytes.length) {
        bytes = Arrays.copyOf(bytes, Math.max(needed, bytes.length + (bytes.length >> 1)))
      }
    }
  }
}
