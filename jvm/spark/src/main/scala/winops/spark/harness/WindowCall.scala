package winops.spark.harness

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode

import org.apache.spark.sql.catalyst.expressions.{CreateNamedStruct, Expression, Literal}
import org.apache.spark.sql.types.{Decimal, StructType}

/** A call of `keep` over rows of a request.
  *
  * @param schema
  *   the columns of the rows
  * @param per
  *   the names of the columns of the group
  * @param orderBy
  *   the names of the columns that order the rows of a group, each ascending
  * @param arguments
  *   the other arguments of the table function `keep`, by name
  * @param key
  *   the names of the columns of the primary key; empty if there is none
  */
final case class WindowCall(
    schema: StructType,
    per: Seq[String],
    orderBy: Seq[String],
    arguments: Seq[(String, Expression)],
    key: Seq[String] = Nil)

object WindowCall {

  /** Reads `schema`, which has no columns if it is missing, the lists `per`, `order_by` and
    * `key`, and the object `arguments`, whose objects become structs.
    */
  def of(request: JsonNode): WindowCall = WindowCall(
    JsonRequest.columns(request).getOrElse(new StructType),
    names(request.path("per")),
    names(request.path("order_by")),
    members(request.path("arguments")),
    names(request.path("key")))

  private def names(list: JsonNode): Seq[String] = list.elements.asScala.map(_.textValue).toSeq

  private def members(json: JsonNode): Seq[(String, Expression)] =
    json.properties.asScala.map(member => member.getKey -> expression(member.getValue)).toSeq

  private def expression(json: JsonNode): Expression =
    if (json.isObject) {
      CreateNamedStruct(members(json).flatMap { case (name, value) => Seq(Literal(name), value) })
    } else if (json.isBoolean) Literal(json.booleanValue)
    else if (json.isIntegralNumber) Literal(json.longValue)
    else if (json.isNumber) Literal(json.doubleValue)
    else if (json.isArray) Literal(Decimal(json.get(0).textValue))
    else Literal(json.textValue)
}
