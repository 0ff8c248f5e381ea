package winops.conformance

import com.fasterxml.jackson.databind.JsonNode

import winops.terms.Origin

/** Builds the text of a case's policy. Esper cases state parts of the text in separate fields. */
private[conformance] object Statement {
  def of(json: JsonNode): String = {
    val policy = json.required("policy").textValue
    val hint = json.path("hint").asText
    val selector = json.path("select").asText("irstream")
    val columns = json.path("columns").asText("*")
    val by = Option(json.get("group_by")).fold("")(keys => s" group by ${keys.asText}")
    if (hint.isEmpty && selector == "irstream" && columns == "*") policy
    else s"$hint select $selector $columns from S$policy$by"
  }

  /** Returns the start of the case as the origin of windows that begin on creation, not with a
    * row.
    */
  def origin(json: JsonNode, start: Long): Option[Origin] =
    Option.when(beginsBefore(json))(Origin.At(start))

  private def beginsBefore(json: JsonNode): Boolean = {
    val policy = json.required("policy").textValue
    !policy.contains("groupwin") &&
    (policy.contains("START_EAGER") || policy.contains("firsttime"))
  }
}
