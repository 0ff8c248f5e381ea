package winops.spark.restart

import scala.util.{Failure, Success, Try}

import org.json4s.{JArray, JObject, JString, JValue}
import org.json4s.jackson.JsonMethods.{compact, render}

import org.apache.spark.sql.types.{DataType, StructType}

import winops.storage.bytes.CorruptStateException

/** Parses types that Spark wrote into checkpoints. Spark would instantiate the class of a
  * user-defined type when it parses the type. Here a user-defined type is replaced by the type
  * that its values are stored as, whose rows have the same bytes.
  */
object StoredTypes {

  /** The columns in `json`; `None` if `json` is another type than a struct.
    *
    * @throws winops.storage.bytes.CorruptStateException
    *   if `json` is no type
    */
  def columns(json: JValue): Option[StructType] = {
    val text = compact(render(asStored(json)))
    Try(DataType.fromJson(text)) match {
      case Success(struct: StructType) => Some(struct)
      case Success(_) => None
      case Failure(unknown) =>
        throw new CorruptStateException(s"a stored type is unknown: ${unknown.getMessage}")
    }
  }

  /** Removes the properties of columns and fields, such as comments, from a type. Collations
    * stay, which Spark writes as properties too.
    */
  def withoutMetadata(json: JValue): JValue = json.transformField {
    case ("metadata", JObject(properties)) =>
      "metadata" -> JObject(properties.filter(_._1 == Collations))
  }

  private val Collations = DataType.COLLATIONS_METADATA_KEY

  private def asStored(json: JValue): JValue = json match {
    case JObject(fields) if fields.contains("type" -> JString("udt")) =>
      asStored(json \ "sqlType")
    case JObject(fields) =>
      JObject(fields.map {
        case metadata @ ("metadata", _) => metadata
        case (name, value) => name -> asStored(value)
      })
    case JArray(values) => JArray(values.map(asStored))
    case other => other
  }
}
