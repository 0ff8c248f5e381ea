package winops.conformance

import java.time.Instant

import com.fasterxml.jackson.databind.JsonNode

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, GenericInternalRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import winops.policy.ColumnKind
import winops.spark.analysis.ColumnKinds

/** The columns of a case's rows, and an additional column with the order of arrival. */
private[conformance] final class Schema(fields: Seq[StructField]) {
  val names: Seq[String] = fields.map(_.name)

  val kinds: Map[String, ColumnKind] =
    fields.map(column => column.name -> ColumnKinds.of(column.dataType)).toMap

  val attributes: Seq[Attribute] =
    (fields :+ StructField("_arrived", LongType)).map { column =>
      AttributeReference(column.name, column.dataType)()
    }

  /** The columns that the case defines. */
  val columns: Seq[Attribute] = attributes.init

  private val toUnsafe = UnsafeProjection.create(attributes.map(_.dataType).toArray)

  /** Converts a JSON object to a row, valid until the next call. */
  def row(json: JsonNode, arrived: Long): UnsafeRow = {
    val values = fields.map(column => value(json.path(column.name), column.dataType)) :+ arrived
    toUnsafe(new GenericInternalRow(values.toArray[Any]))
  }

  def id(row: UnsafeRow): Long = row.getLong(names.indexOf("id"))
  def arrived(row: UnsafeRow): Long = row.getLong(fields.size)

  private def value(json: JsonNode, dataType: DataType): Any =
    if (json.isMissingNode || json.isNull) null
    else {
      dataType match {
        case StringType => UTF8String.fromString(json.asText)
        case LongType => json.longValue
        case IntegerType => json.intValue
        case DoubleType => if (json.isTextual) json.asText.toDouble else json.doubleValue
        case FloatType => if (json.isTextual) json.asText.toFloat else json.floatValue
        case BooleanType => json.booleanValue
        case TimestampType if json.isNumber => json.longValue * 1000
        case TimestampType => DateTimeUtils.instantToMicros(Instant.parse(json.asText))
        case other => throw new IllegalArgumentException(s"no type of a column: ${other.sql}")
      }
    }
}

private[conformance] object Schema {
  def of(fields: Seq[(String, JsonNode)]): Schema = new Schema(fields.map { case (name, kind) =>
    StructField(name, DataType.fromDDL(kind.asText))
  })
}
