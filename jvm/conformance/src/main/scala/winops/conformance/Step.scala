package winops.conformance

import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}

import winops.window.changes.ChangeKind

/** Changes of one group that were emitted together, or a report of its window contents.
  *
  * @param kind
  *   a constant of [[winops.window.changes.ChangeKind]]
  * @param rows
  *   the rows in order
  */
private[conformance] final case class Event(kind: Int, rows: Seq[Held])

/** A row's id, and the number of its arrival. */
private[conformance] final case class Held(id: Long, arrived: Long)

/** All changes of one step.
  *
  * @param at
  *   the instant of the step in milliseconds
  * @param events
  *   the changes in order
  * @param values
  *   the values that the step posts
  */
private[conformance] final case class Step(
    at: Long,
    events: Seq[Event],
    values: Seq[Value] = Nil) {

  /** Writes the step in the form of a case's `expect`.
    *
    * @param withEvents
    *   true if the events are also written one by one
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
