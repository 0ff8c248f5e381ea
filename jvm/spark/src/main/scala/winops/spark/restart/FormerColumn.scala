package winops.spark.restart

import org.apache.spark.sql.catalyst.expressions.{Attribute, Cast, Expression, TaggingExpression}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, StructField, UserDefinedType}
import org.apache.spark.sql.winops.internal.Catalyst

/** A column of the stored rows.
  *
  * @param field
  *   the column, with the type as which its values are stored
  * @param place
  *   its place among the columns of the query; -1 if the query does not have it
  * @param isSame
  *   true if the column has the same name and type in the query
  */
final case class FormerColumn(field: StructField, place: Int, isSame: Boolean) {

  /** The stored value as one of a type of the query; unresolved if Spark does not cast it.
    *
    * @param stored
    *   the column of the stored rows
    * @param dataType
    *   the type of the query's column
    */
  def valueIn(stored: Attribute, dataType: DataType): Expression =
    if (isSame) stored
    else {
      // Values cannot be cast to a user-defined type.
      val storedType =
        Catalyst.transform(dataType) { case own: UserDefinedType[_] => own.sqlType }
      val value = Cast(stored, storedType, Some(SQLConf.get.sessionLocalTimeZone))
      if (storedType == dataType) value else OfStoredType(value, dataType)
    }
}

/** A value as one of a type whose values are stored in the same way. */
private final case class OfStoredType(child: Expression, override val dataType: DataType)
    extends TaggingExpression {
  override protected def withNewChildInternal(newChild: Expression): OfStoredType =
    copy(child = newChild)
}
