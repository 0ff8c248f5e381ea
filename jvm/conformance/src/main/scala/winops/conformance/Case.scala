package winops.conformance

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.JsonNode

import winops.policy.{Parameter, Scope}
import winops.terms.Origin

/** One conformance case: a policy, and the rows and instants of its input.
  *
  * @param name
  *   the name of the case in reports
  * @param dialect
  *   the language of `policy`
  * @param policy
  *   the text of the policy
  * @param scope
  *   the names that the policy may refer to
  * @param schema
  *   the columns of the rows
  * @param delay
  *   the lag of the watermark behind the newest row in milliseconds; None if no row is ever late
  * @param entries
  *   the input in order; empty if the policy is to be refused
  */
private[conformance] final case class Case(
    name: String,
    dialect: String,
    policy: String,
    scope: Scope,
    schema: Schema,
    delay: Option[Long],
    entries: Seq[Entry]) {

  /** Returns true if the input has punctuation, which applies to all groups. */
  def isMarked: Boolean = entries.map(_.what).exists {
    case Coming.WindowPunctuation | Coming.FinalPunctuation => true
    case _ => false
  }
}

/** One entry of the input: the clock moves to `at`, in milliseconds since the epoch, before
  * `what` is processed.
  */
private[conformance] final case class Entry(at: Long, what: Coming)

private[conformance] sealed trait Coming

private[conformance] object Coming {
  case object Nothing extends Coming
  final case class Row(json: JsonNode) extends Coming
  case object WindowPunctuation extends Coming
  case object FinalPunctuation extends Coming
}

private[conformance] object Case {

  /** Reads a case.
    *
    * @throws java.lang.IllegalArgumentException
    *   if the object is not a case, or requires something that the runner does not support
    */
  def of(json: JsonNode): Case = {
    val options = json.path("options")
    refuseUnknown("option", options, Set("origin", "delay"))
    val start = json.path("start").asLong(0L)
    val schema = Schema.of(fields(json.path("schema")))
    Case(
      name = text(json, "name"),
      dialect = text(json, "dialect"),
      policy = Statement.of(json),
      scope = Scope(
        parameters = parameters(json),
        columns = schema.names,
        origin = Option(options.get("origin"))
          .map(origin)
          .orElse(Statement.origin(json, start)),
        kinds = schema.kinds),
      schema = schema,
      delay = Option(options.get("delay")).map(_.longValue),
      entries = json.path("input").elements.asScala.map(entry).toSeq)
  }

  private def entry(json: JsonNode): Entry = {
    refuseUnknown("input", json, Set("at", "row", "punct"))
    val what =
      if (json.has("row")) Coming.Row(json.get("row"))
      else {
        json.path("punct").asText match {
          case "" => Coming.Nothing
          case "window" => Coming.WindowPunctuation
          case "final" => Coming.FinalPunctuation
          case other => throw new IllegalArgumentException(s"no punctuation: $other")
        }
      }
    Entry(json.required("at").longValue, what)
  }

  private def origin(json: JsonNode): Origin =
    if (json.isIntegralNumber) Origin.At(json.longValue)
    else if (json.asText == "first") Origin.FirstRow
    else throw new IllegalArgumentException(s"no origin: $json")

  /** Esper's variables are named values in the text, like parameters. */
  private def parameters(json: JsonNode): Map[String, Parameter] = {
    val named = fields(json.path("params"))
    val variables =
      fields(json.path("variables")).map { case (name, value) => name -> value.required("value") }
    (named ++ variables).collect {
      case (name, value) if !value.isNull => name -> parameter(value)
    }.toMap
  }

  private def parameter(json: JsonNode): Parameter =
    if (json.isIntegralNumber && json.canConvertToLong) Parameter.Whole(json.longValue)
    else if (json.isNumber) Parameter.Fraction(json.decimalValue)
    else if (json.isTextual) Parameter.Text(json.textValue)
    else throw new IllegalArgumentException(s"no value of a parameter: $json")

  private def text(json: JsonNode, field: String): String = json.required(field).textValue

  private def fields(json: JsonNode): Seq[(String, JsonNode)] =
    json.properties.asScala.map(e => e.getKey -> e.getValue).toSeq

  // A silently ignored entry would change the meaning of a case.
  private def refuseUnknown(what: String, json: JsonNode, known: Set[String]): Unit =
    fields(json).map(_._1).filterNot(known).foreach { name =>
      throw new IllegalArgumentException(s"no such $what: $name")
    }
}
