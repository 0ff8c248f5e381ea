package winops.conformance

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode

import winops.policy.{Origin, Parameter, Scope}

/** One conformance case: a policy, and the rows and instants that are put to it.
  *
  * @param name
  *   what the case is called in reports
  * @param dialect
  *   the language of `policy`
  * @param scope
  *   what the policy's text may refer to
  * @param delay
  *   how far behind the newest row the watermark stays, in milliseconds; absent when no row is
  *   ever too late
  * @param entries
  *   rows and instants in the order in which they come; empty when the policy is to be refused
  */
private[conformance] final case class Case(
    name: String,
    dialect: String,
    policy: String,
    scope: Scope,
    delay: Option[Long],
    entries: Seq[Entry])

/** The clock goes to `at`, in milliseconds since the epoch; then `row` arrives if there is one.
  */
private[conformance] final case class Entry(at: Long, row: Option[JsonNode])

private[conformance] object Case {

  /** Reads a case.
    *
    * @throws java.lang.IllegalArgumentException
    *   when the object is no case, or one that asks for what this runner does not do
    */
  def of(json: JsonNode): Case = {
    val options = json.path("options")
    refuseUnknown("option", options, Set("origin", "delay"))
    Case(
      name = text(json, "name"),
      dialect = text(json, "dialect"),
      policy = text(json, "policy"),
      scope = Scope(
        parameters = fields(json.path("params")).map { case (k, v) => k -> parameter(v) }.toMap,
        columns = fields(json.path("schema")).map(_._1),
        origin = Option(options.get("origin")).map(origin)),
      delay = Option(options.get("delay")).map(_.longValue),
      entries = json.path("input").elements.asScala.map(entry).toSeq)
  }

  private def entry(json: JsonNode): Entry = {
    refuseUnknown("input", json, Set("at", "row"))
    Entry(json.required("at").longValue, Option(json.get("row")))
  }

  private def origin(json: JsonNode): Origin =
    if (json.isIntegralNumber) Origin.At(json.longValue)
    else if (json.asText == "first") Origin.FirstRow
    else throw new IllegalArgumentException(s"no origin: $json")

  private def parameter(json: JsonNode): Parameter =
    if (json.isIntegralNumber && json.canConvertToLong) Parameter.Whole(json.longValue)
    else if (json.isNumber) Parameter.Fraction(json.decimalValue)
    else if (json.isTextual) Parameter.Text(json.textValue)
    else throw new IllegalArgumentException(s"no value of a parameter: $json")

  private def text(json: JsonNode, field: String): String = json.required(field).textValue

  private def fields(json: JsonNode): Seq[(String, JsonNode)] =
    json.properties.asScala.map(e => e.getKey -> e.getValue).toSeq

  // An entry that is passed over in silence would make a case mean something else.
  private def refuseUnknown(what: String, json: JsonNode, known: Set[String]): Unit =
    fields(json).map(_._1).filterNot(known).foreach { name =>
      throw new IllegalArgumentException(s"no such $what: $name")
    }
}
