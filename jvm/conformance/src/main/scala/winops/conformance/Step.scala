package winops.conformance

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.ObjectNode

/** What happened at once: the ids of the rows that came in and of those that left, each in order.
  */
private[conformance] final case class Step(
    at: Long,
    inserts: Seq[JsonNode],
    removes: Seq[JsonNode]) {

  /** Writes the step in the form that `expect` has in a case. */
  def writeTo(json: ObjectNode): Unit = {
    json.put("at", at)
    val inserted = json.putArray("insert")
    inserts.foreach(id => inserted.add(id))
    val removed = json.putArray("remove")
    removes.foreach(id => removed.add(id))
  }
}
