package winops.spark.checkpoint

import org.json4s.{JArray, JObject, JString, JValue}
import org.json4s.jackson.JsonMethods.{compact, render}

import org.apache.spark.sql.types.{DataType, StructType}

/** Types as Spark writes them into checkpoints. A user-defined one is written with the name of
  * its class, and Spark makes an object of it when it reads the type; here it is the type that
  * its values are stored as, whose rows have the same bytes.
  */
object StoredTypes {

  /** The columns that are written as `json`, if these are columns.
    *
    * @throws org.apache.spark.SparkIllegalArgumentException
    *   if `json` is no type
    */
  def columns(json: JValue): Option[StructType] =
    DataType.fromJson(compact(render(asStored(json)))) match {
      case struct: StructType => Some(struct)
      case _ => None
    }

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
