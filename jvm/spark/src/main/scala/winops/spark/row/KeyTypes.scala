package winops.spark.row

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.types._
import org.apache.spark.sql.winops.internal.Catalyst

/** The types that are valid for keys, and the normalized form of keys, which are compared by
  * their bytes.
  */
private[spark] object KeyTypes {

  /** Returns true if the type is valid for a group key: equal values have the same bytes once
    * they are [[normalized]]. Maps and variants are not valid.
    */
  def accept(dataType: DataType): Boolean = RowOrdering.isOrderable(dataType)

  /** The forms in which values of other types can be compared, for errors. */
  val ComparableForms: String =
    "array_sort(map_entries(m)) for a map m, or to_json(v) for a variant v"

  /** Returns true if the [[normalized]] form of a value is a value that equals it, so that the
    * output can show that form. The form of a string of a collation in which unequal strings are
    * equal is a binary.
    */
  def areShown(dataType: DataType): Boolean = UnsafeRowUtils.isBinaryStable(dataType)

  /** Returns true if DISTINCT can count values of the type, which need not be orderable. */
  def acceptDistinct(dataType: DataType): Boolean = !Catalyst.exists(dataType) {
    case _: MapType | _: VariantType | _: ObjectType => true
    case _ => false
  }

  /** Returns the normalized form of a key. Two values of the expression are equal, as GROUP BY
    * compares them, exactly if the normalized values have the same bytes: -0.0 becomes 0.0, every
    * NaN the same NaN, and a string its collation key, also within structs and arrays.
    */
  def normalized(key: Expression): Expression =
    Catalyst.normalizeFloatingNumbers(withCollationKeys(key))

  /** Replaces each string by its collation key. Spark does the same for the keys of joins, but
    * not in its first patch releases.
    */
  private def withCollationKeys(value: Expression): Expression = value.dataType match {
    case dataType if UnsafeRowUtils.isBinaryStable(dataType) => value
    case _: StringType => CollationKey(value)
    case struct: StructType =>
      val fields = struct.fields.toSeq.zipWithIndex.flatMap { case (field, i) =>
        Seq(Literal(field.name), withCollationKeys(GetStructField(value, i, Some(field.name))))
      }
      val keys = CreateNamedStruct(fields)
      If(IsNull(value), Literal(null, keys.dataType), keys)
    case ArrayType(elementType, containsNull) =>
      val element = NamedLambdaVariable("element", elementType, containsNull)
      ArrayTransform(value, LambdaFunction(withCollationKeys(element), Seq(element)))
    case _ => value
  }
}
