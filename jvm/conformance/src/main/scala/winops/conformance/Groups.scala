package winops.conformance

import scala.collection.mutable

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.NullNode

import winops.log.Bytes
import winops.policy.{Policy, RowExpression}

/** All groups of a case, each in a slot of its own, on one clock. */
private[conformance] final class Groups(policy: Policy, mapper: ObjectMapper) {
  import Groups._

  private val slots = mutable.LinkedHashMap.empty[Seq[JsonNode], Slot]
  private var clock = Long.MinValue
  private var arrived = 0L

  /** Moves the clock of every group, and gives the steps of the timers that were due. */
  def advance(instant: Long): Seq[Step] = {
    clock = math.max(clock, instant)
    val fired = slots.values.toSeq.flatMap { slot =>
      slot.machine.advance(clock)
      changes(slot)
    }
    // Groups do not matter to a timer: what is due at one instant is one step.
    fired.groupBy(_.at).toSeq.sortBy(_._1).map { case (at, together) =>
      step(at, together.sortBy(_.arrived))
    }
  }

  /** Takes in a row, which arrives now however old it is, after what was due before it. */
  def arrive(instant: Long, row: JsonNode): Seq[Step] = {
    val due = advance(instant)
    val key = policy.group.keys.map {
      case RowExpression.Column(name) => Option(row.get(name)).getOrElse(NullNode.instance)
      case other => throw new IllegalArgumentException(s"no column: ${other.sql}")
    }
    val slot = slots.getOrElseUpdate(key, newSlot())
    val at = slot.machine.arrivalAt(clock)
    slot.machine.advance(at)
    append(slot, at, row)
    slot.machine.arrive(at)
    due :+ step(at, changes(slot))
  }

  /** What the windows hold, in arrival order. */
  def content: Seq[JsonNode] =
    slots.values.toSeq
      .flatMap(slot => (slot.machine.oldest until slot.log.end).map(read(slot, _)))
      .sortBy(_.arrived)
      .map(_.id)

  /** Stores every group and takes it up again in another group's slot. */
  def saveAndRestore(): Unit = {
    val saved = slots.toSeq.map { case (key, slot) => (key, slot, slot.save()) }
    saved.zip(saved.map(_._2).reverse).foreach { case ((key, _, bytes), slot) =>
      slot.restore(bytes)
      slots.update(key, slot)
    }
  }

  private def newSlot(): Slot = {
    val slot = new Slot(policy)
    slot.clear()
    slot
  }

  private def append(slot: Slot, at: Long, row: JsonNode): Unit = {
    val json = mapper.writeValueAsBytes(row)
    val position = slot.log.append(at, ArrivedBytes + json.length)
    Bytes.putLong(slot.log.target, position, arrived)
    System.arraycopy(json, 0, slot.log.target, position + ArrivedBytes, json.length)
    arrived += 1
  }

  private def read(slot: Slot, ordinal: Long): Held = {
    val log = slot.log
    log.find(ordinal)
    val json =
      mapper.readTree(log.rowBytes, log.rowPosition + ArrivedBytes, log.rowLength - ArrivedBytes)
    Held(json.required("id"), Bytes.getLong(log.rowBytes, log.rowPosition))
  }

  private def changes(slot: Slot): Seq[Change] = {
    val told = Seq.newBuilder[Change]
    while (!slot.changes.isEmpty) {
      slot.changes.next()
      val held = read(slot, slot.changes.ordinal)
      told += Change(slot.changes.at, slot.changes.isInsert, held.id, held.arrived)
    }
    slot.log.release(slot.machine.oldest)
    told.result()
  }
}

private[conformance] object Groups {
  private val ArrivedBytes = 8

  private final case class Held(id: JsonNode, arrived: Long)
  private final case class Change(at: Long, isInsert: Boolean, id: JsonNode, arrived: Long)

  private def step(at: Long, changes: Seq[Change]): Step = {
    val (inserts, removes) = changes.partition(_.isInsert)
    Step(at, inserts.map(_.id), removes.map(_.id))
  }
}
