package winops.spark.restart

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._
import org.apache.spark.sql.winops.internal.Catalyst

import winops.spark.expressions.LosslessCast

/** A column of the stored rows.
  *
  * @param field
  *   the column, with the type as which its values are stored
  * @param place
  *   its place among the columns of the query; -1 if the query does not have it
  * @param isSame
  *   true if the column has the same name and type in the query
  * @param hasSameType
  *   true if the column has the same type in the query
  */
final case class FormerColumn(
    field: StructField,
    place: Int,
    isSame: Boolean,
    hasSameType: Boolean) {

  /** The stored value as one of a type of the query; unresolved if Spark does not cast it. Fields
    * of structs are matched by their places, or by their names if these differ.
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
      // Spark casts nothing that may be NULL to a type without NULLs.
      val value = FormerColumn.cast(stored, Catalyst.asNullable(storedType))
      if (value.dataType == dataType) value else OfStoredType(value, dataType)
    }
}

object FormerColumn {

  /** Casts a value. Spark matches the fields of structs by their places only. */
  private def cast(value: Expression, to: DataType): Expression = {
    val byPlace = Cast(value, to, Some(SQLConf.get.sessionLocalTimeZone))
    if (LosslessCast.hasSameFields(value.dataType, to)) byPlace
    else {
      (value.dataType, to) match {
        case (from: StructType, to: StructType) =>
          val places = MatchedNames.places(to.fieldNames.toSeq, from.fieldNames.toSeq)
          val row = CreateNamedStruct(
            to.fields.toIndexedSeq.zip(places).flatMap { case (field, own) =>
              val of =
                if (own < 0) Literal(null, field.dataType)
                else cast(GetStructField(value, own), field.dataType)
              Seq(Literal(field.name), of)
            })
          If(IsNull(value), Literal(null, row.dataType), row)
        case (ArrayType(from, nullable), ArrayType(to, _)) =>
          ArrayTransform(value, function(from -> nullable)(each => cast(each.head, to)))
        case (MapType(key, from, nullable), MapType(toKey, to, _)) =>
          val keys = TransformKeys(
            value,
            function(key -> false, from -> nullable)(each => cast(each.head, toKey)))
          TransformValues(
            keys,
            function(toKey -> false, from -> nullable)(each => cast(each.last, to)))
        case _ => byPlace
      }
    }
  }

  private def function(arguments: (DataType, Boolean)*)(
      body: Seq[Expression] => Expression): LambdaFunction = {
    val variables = arguments.map { case (dataType, nullable) =>
      NamedLambdaVariable("value", dataType, nullable)
    }
    LambdaFunction(body(variables), variables)
  }
}

/** A value as one of a type whose values are stored in the same way. */
private final case class OfStoredType(child: Expression, override val dataType: DataType)
    extends TaggingExpression {
  override protected def withNewChildInternal(newChild: Expression): OfStoredType =
    copy(child = newChild)
}
