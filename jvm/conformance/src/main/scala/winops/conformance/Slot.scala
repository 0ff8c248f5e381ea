package winops.conformance

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.policy.Policy
import winops.spark.aggregates.{CrossGroupAggregates, StepAggregates}
import winops.spark.expressions.{PolicyExpressions, RowEvaluator}
import winops.spark.row.RowBytes
import winops.storage.btree.Pages
import winops.storage.bytes.{ByteReader, ByteWriter, HeapSegments, Segments, ShiftedSegments}
import winops.storage.rows.{RowLog, RowStore, RowTree}
import winops.window.changes.{ChangeKind, ChangeQueue, Steps}
import winops.window.machine.Machine
import winops.window.time.Clock

/** The machine, the rows and the changes of one group. A group may be restored in the slot of
  * another group, whose buffers still contain data of that group.
  *
  * @param values
  *   computes the values of the window, if the policy has any
  * @param common
  *   the cross-group contents, if values are cross-group
  * @param shared
  *   the steps and the change queue of all groups; None if each group has its own
  */
private[conformance] final class Slot(
    policy: Policy,
    expressions: PolicyExpressions,
    schema: Schema,
    values: Option[Values],
    common: Option[CrossGroupAggregates],
    shared: Option[(Steps, ChangeQueue)])
    extends CrossGroupAggregates.Group {
  private var kept = new HeapSegments

  private object segments extends Segments {
    override def get(number: Long): Array[Byte] = kept.get(number)
    override def put(number: Long, bytes: Array[Byte]): Unit = kept.put(number, bytes)
    override def remove(number: Long): Unit = kept.remove(number)
  }

  private val pages = new Pages(new ShiftedSegments(segments, Slot.FirstPage))

  var key: UnsafeRow = _

  private val log: RowStore =
    if (policy.leavesHoles) new RowTree(pages, policy.needsArrivals)
    else new RowLog(segments, policy.needsArrivals)

  override def window: RowStore = log

  private val content: Option[StepAggregates] =
    if (common.isDefined) common else values.map(_.of(log, pages))
  private val own = if (common.isDefined) None else content

  private val changes = shared.fold(new ChangeQueue)(_._2)

  val machine = new Machine(
    policy,
    Clock.Never,
    log,
    pages,
    new RowEvaluator(
      expressions.ofRows,
      schema.attributes,
      (row, ordinal) => RowBytes.pointTo(row, log, ordinal)),
    shared.fold(new Steps(changes, values.fold(policy.stream)(_.stream)))(_._1),
    ownsSteps = shared.isEmpty)

  private val writer = new ByteWriter
  private val row = new UnsafeRow(schema.attributes.size)

  /** Starts a new group without rows. */
  def clear(): Unit = {
    kept = new HeapSegments
    pages.clear()
    log.clear()
    machine.clear()
    own.foreach(_.clear())
  }

  def append(at: Long, row: UnsafeRow): Unit = RowBytes.append(log, at, row)

  /** Returns the machine's changes since the last call, as steps. */
  def reported(): Seq[Step] = {
    val reported = Seq.newBuilder[(Long, Long, Event)]
    while (!changes.isEmpty) {
      changes.nextEntry()
      val rows = Seq.newBuilder[Held]
      content.foreach(follow)
      var ordinal = changes.ordinal
      while (ordinal < changes.end) {
        rows += read(ordinal)
        ordinal = log.next(ordinal)
      }
      reported += ((changes.step, changes.at, Event(changes.kind, rows.result())))
    }
    val entries = reported.result()
    val computed = if (entries.isEmpty) Nil else computedNow()
    machine.settle()
    entries.map(_._1).distinct.map { step =>
      val ofStep = entries.filter(_._1 == step)
      Step(ofStep.head._2, ofStep.map(_._3).filter(_.kind != ChangeKind.EmptyTrigger), computed)
    }
  }

  private def follow(content: StepAggregates): Unit = changes.kind match {
    case ChangeKind.Insert => content.insert(changes.ordinal, changes.end)
    case ChangeKind.Delete | ChangeKind.GroupDelete =>
      content.remove(changes.ordinal, changes.end)
    case _ =>
  }

  private def computedNow(): Seq[Value] = content.toSeq.flatMap { followed =>
    val found = Seq.newBuilder[Value]
    followed.visit((before, now) => found += Value(key, before.copy(), now.copy()))
    followed.release()
    found.result()
  }

  /** Saves the group. All of its changes must have been read. */
  def save(): Slot.Saved = {
    writer.clear()
    own.foreach(_.settle())
    machine.clock.saveNow(writer)
    pages.save(writer)
    log.save(writer)
    machine.save(writer)
    own.foreach(_.save(writer))
    Slot.Saved(writer.toArray, kept)
  }

  /** Restores a saved group. */
  def restore(saved: Slot.Saved): Unit = {
    kept = saved.segments
    val reader = new ByteReader(saved.bytes)
    machine.clock.restoreNow(reader)
    pages.restore(reader)
    log.restore(reader)
    machine.restore(reader)
    own.foreach(_.restore(reader))
    reader.finish()
  }

  private def read(ordinal: Long): Held = {
    RowBytes.pointTo(row, log, ordinal)
    Held(schema.id(row), schema.arrived(row))
  }
}

private[conformance] object Slot {
  private val FirstPage = 1L << 60

  /** A saved group: its own value and its segments. */
  final case class Saved(bytes: Array[Byte], segments: HeapSegments)
}
