package winops.conformance

import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}

import winops.window.changes.ChangeKind

/** What was told at once of one group: rows that came in or left, or a content.
  *
  * @param kind
  *   one of [[winops.window.changes.ChangeKind]]
  * @param rows
  *   the rows, in order
  */
private[conformance] final case class Event(kind: Int, rows: Seq[Held])

/** A row, and the place at which it arrived. */
private[conformance] final case class Held(id: Long, arrived: Long)

/** What happened at once.
  *
  * @param values
  *   what is posted of the windows then
  */
private[conformance] final case class Step(
    at: Long,
    events: Seq[Event],
    values: Seq[Value] = Nil) {

  /** Writes the step in the form that `expect` has in a case.
    *
    * @param withEvents
    *   whether the events are written by themselves too
    */
  def writeTo(json: ObjectNode, withEvents: Boolean): Unit = {
    json.put("at", at)
    write(json.putArray("insert"), rows(_ == ChangeKind.Insert))
    write(
      json.putArray("remove"),
      rows(kind => ChangeKind.isChange(kind) && kind != ChangeKind.Insert))
    if (withEvents) {
      val list = json.putArray("events")
      events.foreach { event =>
        val pair = list.addArray()
        pair.add(Step.Names(event.kind))
        write(pair.addArray(), event.rows)
      }
      writeContent(json, "trigger", ChangeKind.Trigger)
      writeContent(json, "final", ChangeKind.Final)
    }
  }

  /** Writes the values after the step as inserted rows, and those before it as removed ones. */
  def writeTo(json: ObjectNode, of: Values): Unit = {
    json.put("at", at)
    val (inserted, removed) = (json.putArray("insert"), json.putArray("remove"))
    values.foreach(of.write(_, inserted, removed))
  }

  private def rows(isWanted: Int => Boolean): Seq[Held] =
    events.filter(event => isWanted(event.kind)).flatMap(_.rows)

  private def writeContent(json: ObjectNode, field: String, kind: Int): Unit =
    if (events.exists(_.kind == kind)) write(json.putArray(field), rows(_ == kind))

  private def write(list: ArrayNode, rows: Seq[Held]): Unit =
    rows.foreach(row => list.add(row.id))
}

private[conformance] object Step {
  private val Names = Map(
    ChangeKind.Insert -> "INSERTION",
    ChangeKind.Delete -> "EVICTION",
    ChangeKind.GroupDelete -> "PARTITION_EVICTION",
    ChangeKind.Trigger -> "TRIGGER",
    ChangeKind.InitialFull -> "INITIAL_FULL",
    ChangeKind.Final -> "FINAL")
}
