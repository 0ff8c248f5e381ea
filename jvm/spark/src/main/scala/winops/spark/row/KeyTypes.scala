package winops.spark.row

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.types._
import org.apache.spark.sql.winops.internal.Catalyst

/** The types whose values serve as keys, and the form in which values are compared as keys: by
  * their bytes.
  */
private[spark] object KeyTypes {

  /** Returns true if a group can have a value of the type as its key: equal values have the same
    * bytes, floating-point numbers once they are normalized. That excludes maps, variants, and
    * strings of a collation in which unequal strings are equal.
    */
  def accept(dataType: DataType): Boolean =
    RowOrdering.isOrderable(dataType) && UnsafeRowUtils.isBinaryStable(dataType)

  /** Returns true if values of the type can be counted by DISTINCT. Unlike a group key, such a
    * value is not in the output, so that any string can be compared by its [[normalized]] form.
    */
  def acceptDistinct(dataType: DataType): Boolean = !Catalyst.exists(dataType) {
    case _: MapType | _: VariantType | _: ObjectType => true
    case _ => false
  }

  /** Returns the form of a key that is compared. Two values of the expression are equal, as GROUP
    * BY compares them, exactly if those of the result have the same bytes: -0.0 becomes 0.0,
    * every NaN the same NaN, and a string the key that its collation gives it, also within
    * structs and arrays.
    */
  def normalized(key: Expression): Expression =
    Catalyst.normalizeFloatingNumbers(withCollationKeys(key))

  /** Returns the value with the key of its collation in the place of each string. Spark has the
    * same for the keys of joins, but not in its first patch releases.
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
