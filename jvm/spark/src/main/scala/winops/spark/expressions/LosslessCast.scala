package winops.spark.expressions

import org.apache.spark.sql.catalyst.expressions.Cast
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._

/** Casts to a wider type that keep each value. Spark's up-casts are not all of this kind: a
  * bigint is rounded to a double, and the fields of structs are matched by their places.
  */
private[spark] object LosslessCast {

  /** Returns true if each value of `from` has its own value in `to`, and structs have the same
    * fields in the same order. Nullability does not matter.
    */
  def isPossible(from: DataType, to: DataType): Boolean =
    hasSameFields(from, to) && keepsValues(from, to)

  /** Returns true unless structs at the same place in the two types have fields of other names,
    * or in another order.
    */
  def hasSameFields(from: DataType, to: DataType): Boolean = (from, to) match {
    case (StructType(own), StructType(others)) =>
      own.length == others.length && own.zip(others).forall { case (one, other) =>
        SQLConf.get.resolver(one.name, other.name) && hasSameFields(one.dataType, other.dataType)
      }
    case (ArrayType(own, _), ArrayType(other, _)) => hasSameFields(own, other)
    case (MapType(key, value, _), MapType(otherKey, otherValue, _)) =>
      hasSameFields(key, otherKey) && hasSameFields(value, otherValue)
    case _ => true
  }

  /** Returns true unless strings at the same place in the two types have different collations, so
    * that a cast changes which values are equal.
    */
  def hasSameCollations(from: DataType, to: DataType): Boolean = (from, to) match {
    case (own: StringType, other: StringType) => own.collationId == other.collationId
    case (StructType(own), StructType(others)) =>
      own.zip(others).forall { case (one, other) =>
        hasSameCollations(one.dataType, other.dataType)
      }
    case (ArrayType(own, _), ArrayType(other, _)) => hasSameCollations(own, other)
    case (MapType(key, value, _), MapType(otherKey, otherValue, _)) =>
      hasSameCollations(key, otherKey) && hasSameCollations(value, otherValue)
    case _ => true
  }

  /** Returns true if at the same place in the two types one has a string and the other one does
    * not. A cast then compares texts, of which several may stand for one value.
    */
  def mixesStrings(one: DataType, other: DataType): Boolean = (one, other) match {
    case (StructType(own), StructType(others)) =>
      own.zip(others).exists { case (field, its) => mixesStrings(field.dataType, its.dataType) }
    case (ArrayType(own, _), ArrayType(its, _)) => mixesStrings(own, its)
    case (MapType(key, value, _), MapType(itsKey, itsValue, _)) =>
      mixesStrings(key, itsKey) || mixesStrings(value, itsValue)
    case (NullType, _) | (_, NullType) => false
    case _ => one.isInstanceOf[StringType] != other.isInstanceOf[StringType]
  }

  private def keepsValues(from: DataType, to: DataType): Boolean = (from, to) match {
    case (StructType(own), StructType(others)) =>
      own.length == others.length && own.zip(others).forall { case (one, other) =>
        keepsValues(one.dataType, other.dataType)
      }
    case (ArrayType(own, _), ArrayType(other, _)) => keepsValues(own, other)
    case (MapType(key, value, _), MapType(otherKey, otherValue, _)) =>
      keepsValues(key, otherKey) && keepsValues(value, otherValue)
    case _ => from == to || Cast.canUpCast(from, to) && keepsEach(from, to)
  }

  /** Returns true for the up-casts of simple types that neither round, cut, nor overflow, and do
    * not depend on the time zone.
    */
  private def keepsEach(from: DataType, to: DataType): Boolean = (from, to) match {
    case (NullType, _) => true
    case (IntegerType | LongType, FloatType) => false
    case (LongType, DoubleType) => false
    // Spark takes 10 digits for an int and 20 for a bigint.
    case (decimal: DecimalType, integer) if digits.contains(integer) =>
      decimal.precision <= digits(integer)
    case (_: NumericType, _: NumericType) => true
    case (DateType, TimestampNTZType) => true
    case (one: DayTimeIntervalType, other: DayTimeIntervalType) => other.endField >= one.endField
    case (one: YearMonthIntervalType, other: YearMonthIntervalType) =>
      other.endField >= one.endField
    case (_: StringType, _: StringType) => true
    case (_: NumericType | BooleanType | DateType | TimestampNTZType, _: StringType) => true
    case (_: TimeType, _: TimeType) => true
    case _ => false
  }

  /** The number of decimal digits of which a type has all numbers. */
  private val digits: Map[DataType, Int] =
    Map(ByteType -> 2, ShortType -> 4, IntegerType -> 9, LongType -> 18)
}
