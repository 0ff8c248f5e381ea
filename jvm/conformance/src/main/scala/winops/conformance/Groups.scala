package winops.conformance

import scala.collection.mutable

import com.fasterxml.jackson.databind.JsonNode

import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}

import winops.policy.Policy
import winops.spark.expressions.PolicyExpressions
import winops.spark.state.RowKeys
import winops.storage.btree.Pages
import winops.storage.bytes.{ByteReader, ByteWriter, HeapSegments}
import winops.window.changes.{ChangeKind, ChangeQueue, Steps}
import winops.window.crossgroup.{CrossGroupIndex, CrossGroupMachines, HeapRecords}
import winops.window.machine.Machine

/** All groups of a case, each in a slot of its own, with one clock. */
private[conformance] sealed abstract class Groups {

  /** Moves the clock of every group, and returns the steps of the timers that fired. */
  def advance(instant: Long): Seq[Step]

  /** Inserts a row, which arrives now whatever its time, after the timers before it have fired.
    */
  def arrive(instant: Long, row: JsonNode): Seq[Step]

  def punctuate(instant: Long): Seq[Step]
  def finish(instant: Long): Seq[Step]

  /** The window contents: the ids of the rows in all windows. */
  def content: Seq[Long]

  /** Saves every group and restores it, in a new slot or in the slot of another group. */
  def saveAndRestore(): Unit
}

private[conformance] object Groups {

  def of(
      policy: Policy,
      expressions: PolicyExpressions,
      values: Option[Values],
      example: Case): Groups =
    if (policy.group.keys.nonEmpty && (policy.isCrossGroup || example.isMarked))
      new CrossGroups(policy, expressions, values, example.schema)
    else new SeparateGroups(policy, expressions, values, example)

  def keys(expressions: PolicyExpressions, schema: Schema): UnsafeProjection =
    UnsafeProjection.create(expressions.group, schema.attributes)
}

/** Groups that do not depend on each other. */
private final class SeparateGroups(
    policy: Policy,
    expressions: PolicyExpressions,
    values: Option[Values],
    example: Case)
    extends Groups {
  private val schema = example.schema
  private val slots = mutable.LinkedHashMap.empty[UnsafeRow, Slot]
  private val keyOf = Groups.keys(expressions, schema)
  private var clock = Long.MinValue
  private var arrived = 0L

  override def advance(instant: Long): Seq[Step] = {
    clock = math.max(clock, instant)
    val fired = slots.values.toSeq.map { slot =>
      val steps = Seq.newBuilder[Step]
      while (slot.machine.fireNext(clock)) steps ++= slot.reported()
      steps.result()
    }
    Merging.of(example.dialect)(fired)
  }

  override def arrive(instant: Long, json: JsonNode): Seq[Step] = {
    val due = advance(instant)
    val row = schema.row(json, arrived)
    arrived += 1
    val key = keyOf(row).copy()
    // A group that was removed is created again, as the last of all groups.
    if (slots.get(key).exists(!_.machine.isAlive)) slots.remove(key)
    val slot = slots.getOrElseUpdate(key, newSlot(key))
    if (slot.machine.isFinished) due
    else {
      val at = slot.machine.clock.arrivalAt(clock)
      slot.machine.advance(at)
      slot.append(at, row)
      val _ = slot.machine.arrive(at)
      due ++ slot.reported()
    }
  }

  override def punctuate(instant: Long): Seq[Step] =
    advance(instant) ++ each(_.punctuate(clock))

  override def finish(instant: Long): Seq[Step] = advance(instant) ++ each(_.finish(clock))

  override def content: Seq[Long] = slots.values.toSeq.flatMap { slot =>
    slot.machine.emitContents()
    slot.reported().flatMap(_.events).flatMap(_.rows).map(_.id)
  }

  override def saveAndRestore(): Unit = {
    val saved = slots.toSeq.map { case (key, slot) => (key, slot, slot.save()) }
    saved.zip(saved.map(_._2).reverse).foreach { case ((key, _, bytes), slot) =>
      slot.restore(bytes)
      slot.key = key
      slots.update(key, slot)
    }
  }

  private def each(change: Machine => Unit): Seq[Step] = slots.values.toSeq.flatMap { slot =>
    if (!slot.machine.isFinished) change(slot.machine)
    slot.reported()
  }

  private def newSlot(key: UnsafeRow): Slot = {
    val slot = new Slot(policy, expressions, schema, values, None, None)
    slot.key = key
    slot.clear()
    slot
  }
}

/** Groups that depend on each other. Their steps share one numbering. */
private final class CrossGroups(
    policy: Policy,
    expressions: PolicyExpressions,
    values: Option[Values],
    schema: Schema)
    extends Groups {
  private val changes = new ChangeQueue
  private val steps = new Steps(changes, values.fold(policy.stream)(_.stream))
  private var opened: Slot = _
  private val common = values
    .filter(_.acrossGroups)
    .map(_.common(new Pages(new HeapSegments), () => opened))
  private val slots = mutable.Map.empty[UnsafeRow, Slot]
  private val keyOf = Groups.keys(expressions, schema)
  private val reported = mutable.ArrayBuffer.empty[(Long, Step)]
  private var arrived = 0L

  private object host extends CrossGroupMachines.Host[UnsafeRow] {
    override def open(group: UnsafeRow): Machine = {
      opened = slots.getOrElseUpdate(group, newSlot(group))
      opened.machine
    }

    override def drop(group: UnsafeRow): Unit = {
      val _ = slots.remove(group)
      common.foreach(_.forget(group))
    }
  }

  private val rowKeys = new RowKeys(expressions.group)
  private val records = new HeapRecords
  private val segments = new HeapSegments
  private var machines = newMachines()

  /** Moves the clock. If the policy computes values, all steps of an instant become one step. */
  override def advance(instant: Long): Seq[Step] = {
    work(machines.advance(instant))
    val steps = taken()
    if (values.isEmpty) steps
    else {
      steps.map(_.at).distinct.map { at =>
        val together = steps.filter(_.at == at)
        Step(at, together.flatMap(_.events), together.flatMap(_.values))
      }
    }
  }

  override def arrive(instant: Long, json: JsonNode): Seq[Step] = {
    val due = advance(instant)
    due ++ arriveNow(instant, json)
  }

  private def arriveNow(instant: Long, json: JsonNode): Seq[Step] = {
    val row = schema.row(json, arrived).copy()
    arrived += 1
    val key = keyOf(row).copy()
    work(machines.arrive(key, instant)(at => slots(key).append(at, row)))
    taken()
  }

  override def punctuate(instant: Long): Seq[Step] = {
    work(machines.punctuate(instant))
    taken()
  }

  override def finish(instant: Long): Seq[Step] = {
    work(machines.finish(instant))
    taken()
  }

  override def content: Seq[Long] = machines.groups.inOrderOfCreation.flatMap { group =>
    host.open(group).emitContents()
    slots(group).reported().flatMap(_.events).flatMap(_.rows).map(_.id)
  }.toSeq

  override def saveAndRestore(): Unit = {
    val saved = slots.toSeq.map { case (key, slot) => (key, slot.save()) }
    val out = new ByteWriter
    machines.groups.save(out)
    val (now, isFinished) = (machines.now, machines.isFinished)
    machines = newMachines()
    machines.resume(now, isFinished)
    machines.groups.restore(new ByteReader(out.toArray))
    slots.clear()
    saved.foreach { case (key, bytes) =>
      val slot = newSlot(key)
      slot.restore(bytes)
      slots.update(key, slot)
    }
  }

  /** Returns the steps since the last call. Changes of several groups in one step become one
    * step.
    */
  private def taken(): Seq[Step] = {
    val steps = reported.toSeq
    reported.clear()
    // A step without changes has the number of the next step, so the time must be equal too.
    steps.map(numbered => (numbered._1, numbered._2.at)).distinct.map { case (number, at) =>
      val together = steps.filter(s => s._1 == number && s._2.at == at).map(_._2)
      Step(together.head.at, together.flatMap(_.events), together.flatMap(_.values))
    }
  }

  private def newMachines(): CrossGroupMachines[UnsafeRow] = {
    val pages = new Pages(segments)
    val groups = new CrossGroupIndex[UnsafeRow](
      policy.group.reclaim,
      ordersByCreation = true,
      pages,
      records,
      rowKeys)
    new CrossGroupMachines[UnsafeRow](steps, groups, host)
  }

  private def work(pieces: Iterator[UnsafeRow]): Unit = pieces.foreach { group =>
    slots(group).reported().foreach(step => reported += ((changes.step, step)))
  }

  private def newSlot(key: UnsafeRow): Slot = {
    val slot = new Slot(policy, expressions, schema, values, common, Some((steps, changes)))
    slot.key = key
    slot.clear()
    slot
  }
}

/** Merges the timer steps of several groups at one instant as the dialect's cases expect. */
private object Merging {
  def of(dialect: String): Seq[Seq[Step]] => Seq[Step] = dialect match {
    case "spl" => groups => groups.flatten.sortBy(_.at)
    case "esper" => groups => merged(groups, inOrderOfArrival = false)
    case _ => groups => merged(groups, inOrderOfArrival = true)
  }

  /** Merges all steps of an instant into one. */
  private def merged(groups: Seq[Seq[Step]], inOrderOfArrival: Boolean): Seq[Step] =
    groups.flatten.groupBy(_.at).toSeq.sortBy(_._1).map { case (at, steps) =>
      val kinds = Seq(ChangeKind.Insert, ChangeKind.Delete)
      Step(
        at,
        kinds.map { kind =>
          val rows = steps.flatMap(_.events).filter(_.kind == kind).flatMap(_.rows)
          Event(kind, if (inOrderOfArrival) rows.sortBy(_.arrived) else rows)
        },
        steps.flatMap(_.values))
    }
}
