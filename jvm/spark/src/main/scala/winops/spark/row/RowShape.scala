package winops.spark.row

import org.apache.spark.sql.catalyst.expressions.{Expression, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.bitset.BitSetMethods

import winops.storage.bytes.CorruptStateException
import winops.storage.rows.RowCheck

/** Checks that the offsets and lengths in a row's bytes lie within the row. Spark trusts them and
  * would read any memory that they point to.
  *
  * The values are not checked.
  */
final class RowShape private (types: Array[DataType]) extends RowCheck {
  private val columns = new RowShape.Columns(types)

  override def check(bytes: Array[Byte], at: Int, length: Int): Unit =
    if (!columns.fits(bytes, at, length)) {
      throw new CorruptStateException(s"a stored row of $length bytes is not one of its columns")
    }

  /** Checks a row in place. */
  def check(row: UnsafeRow): Unit = row.getBaseObject match {
    case bytes: Array[Byte] =>
      val at = row.getBaseOffset - Platform.BYTE_ARRAY_OFFSET
      check(bytes, at.toInt, row.getSizeInBytes)
    case _ =>
      val bytes = row.getBytes
      check(bytes, 0, bytes.length)
  }

  /** Points `row` to the bytes, which must be exactly one row. */
  def pointTo(row: UnsafeRow, bytes: Array[Byte]): Unit = {
    check(bytes, 0, bytes.length)
    row.pointTo(bytes, bytes.length)
  }
}

object RowShape {
  def of(columns: Seq[Expression]): RowShape = ofTypes(columns.map(_.dataType))

  def ofTypes(types: Seq[DataType]): RowShape = new RowShape(types.toArray)

  /** The layout of the variable-length part of a row or an array. */
  private trait Shape {

    /** Returns true if everything that Spark reads of these bytes lies within them. */
    def fits(bytes: Array[Byte], at: Int, length: Int): Boolean
  }

  private def of(dataType: DataType): Shape = dataType match {
    case struct: StructType => new Columns(struct.fields.map(_.dataType))
    case ArrayType(element, _) => new Elements(element)
    case MapType(key, value, _) => new Entries(new Elements(key), new Elements(value))
    case _: CalendarIntervalType => Interval
    case _: DecimalType => LongDecimal
    case _: VariantType => Variant
    case udt: UserDefinedType[_] => of(udt.sqlType)
    case _ => Text
  }

  private val Text: Shape = (_, _, _) => true
  private val Interval: Shape = (_, _, length) => length == 16
  private val LongDecimal: Shape = (_, _, length) => 1 <= length && length <= 16

  private val Variant: Shape = (bytes, at, length) =>
    length >= Integer.BYTES && {
      val value = Platform.getInt(bytes, place(at))
      0 <= value && value <= length - Integer.BYTES
    }

  private final class Columns(types: Array[DataType]) extends Shape {
    private val nulls = UnsafeRow.calculateBitSetWidthInBytes(types.length)
    private val fixed = nulls + 8 * types.length
    private val ordinals = types.indices.filterNot(i => UnsafeRow.isFixedLength(types(i))).toArray
    private val shapes = ordinals.map(i => of(types(i)))

    override def fits(bytes: Array[Byte], at: Int, length: Int): Boolean =
      fixed <= length && (length & 7) == 0 && {
        var i = 0
        while (i < ordinals.length && fits(i, bytes, at, length)) i += 1
        i == ordinals.length
      }

    private def fits(i: Int, bytes: Array[Byte], at: Int, length: Int): Boolean =
      BitSetMethods.isSet(bytes, place(at), ordinals(i)) ||
        inside(shapes(i), bytes, at, length, at + nulls + 8 * ordinals(i), fixed)
  }

  private final class Elements(element: DataType) extends Shape {
    private val isFixed = UnsafeRow.isFixedLength(element)
    private val elementBytes =
      if (isFixed && CodeGenerator.isPrimitiveType(element)) element.defaultSize else 8
    private val shape = if (isFixed) Text else of(element)

    override def fits(bytes: Array[Byte], at: Int, length: Int): Boolean = length >= 8 && {
      val count = Platform.getLong(bytes, place(at))
      0 <= count && count <= length && {
        val nulls = 8 + (count.toInt + 63) / 64 * 8
        val fixed = nulls + count * elementBytes
        fixed <= length && (isFixed || areInside(bytes, at, length, count.toInt, nulls))
      }
    }

    private def areInside(
        bytes: Array[Byte],
        at: Int,
        length: Int,
        count: Int,
        nulls: Int): Boolean = {
      var i = 0
      while (i < count && (BitSetMethods.isSet(bytes, place(at + 8), i) ||
          inside(shape, bytes, at, length, at + nulls + 8 * i, nulls + 8 * count))) {
        i += 1
      }
      i == count
    }
  }

  private final class Entries(keys: Shape, values: Shape) extends Shape {
    override def fits(bytes: Array[Byte], at: Int, length: Int): Boolean = length >= 8 && {
      val keyBytes = Platform.getLong(bytes, place(at))
      0 <= keyBytes && keyBytes <= length - 8 &&
      keys.fits(bytes, at + 8, keyBytes.toInt) &&
      values.fits(bytes, at + 8 + keyBytes.toInt, length - 8 - keyBytes.toInt)
    }
  }

  /** Returns true if the offset and the size at `word` lie within the row or array. */
  private def inside(
      shape: Shape,
      bytes: Array[Byte],
      at: Int,
      length: Int,
      word: Int,
      fixed: Int): Boolean = {
    val placeAndSize = Platform.getLong(bytes, place(word))
    val from = (placeAndSize >>> 32).toInt
    val size = placeAndSize.toInt
    fixed <= from && 0 <= size && from <= length - size && shape.fits(bytes, at + from, size)
  }

  private def place(at: Int): Long = Platform.BYTE_ARRAY_OFFSET.toLong + at
}
