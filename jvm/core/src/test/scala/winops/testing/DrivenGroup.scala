package winops.testing

import java.nio.ByteBuffer

import winops.policy.Policy
import winops.storage.btree.{PageMemory, Pages}
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException, HeapSegments, Segments, ShiftedSegments}
import winops.storage.rows.{RowLog, RowStore, RowTree}
import winops.window.changes.{ChangeKind, ChangeQueue, ChangeReason}
import winops.window.expression.Evaluator
import winops.window.machine.Machine
import winops.window.time.Clock

/** Runs one group of a machine as the operator does: rows are in a log, changes are drained after
  * every input, and the group is stored and restored on demand.
  *
  * @param evaluator
  *   the evaluator of the policy's expressions, given a function from ordinals to row numbers
  * @param pageBytes
  *   the bound of the loaded pages
  * @param onlyChanges
  *   true if reports are not read; `skipsReports` is then true if the machine may skip them
  */
final class DrivenGroup(
    first: Policy,
    idle: Option[Long],
    evaluator: (Long => Int) => Evaluator = _ => Evaluator.None,
    pageBytes: Long = PageMemory.DefaultBytes,
    onlyChanges: Boolean = false,
    skipsReports: Boolean = false) {
  private var policy = first
  private val segments = new DrivenGroup.SwitchedSegments
  private var log: RowStore = _
  private var pages: Pages = _
  private var changes: ChangeQueue = _
  private var machine: Machine = _
  private var rows = 0

  def this(keep: CclWindow, idle: Option[Long]) = this(keep.policy, idle)

  open()
  startGroup()

  /** Applies one row or instant and returns the changes. */
  def feed(input: Input): Seq[ObservedChange] = {
    input match {
      case Input.Row(stamp) =>
        val at = machine.clock.arrivalAt(stamp)
        machine.advance(at)
        val payload = DrivenGroup.payload(rows)
        val position = log.append(at, payload.length)
        System.arraycopy(payload, 0, log.target, position, payload.length)
        rows += 1
        val _ = machine.arrive(at)
      case Input.Time(at) => machine.advance(at)
    }
    drain()
  }

  /** Asks the window at an instant, and returns the changes up to then and the contents. */
  def ask(stamp: Long): (Seq[ObservedChange], Seq[Int]) = {
    machine.advance(machine.clock.arrivalAt(stamp))
    val emitted = drain()
    val held = content
    machine.ask()
    (emitted, held)
  }

  def isAlive: Boolean = machine.clock.isAlive
  def nextDue: Long = machine.nextDue
  def now: Long = machine.clock.now
  def size: Long = machine.held

  /** The number of stored rows. */
  def stored: Long = log.size

  /** The window contents in the window's order. */
  def content: Seq[Int] = contents.map(_.row)

  /** The contents of all windows, as inserts. */
  def contents: Seq[ObservedChange] = {
    machine.emitContents()
    drain()
  }

  /** The stored state of the group, except for its segments. */
  def save(): Array[Byte] = {
    val out = new ByteWriter
    machine.clock.saveNow(out)
    pages.save(out)
    log.save(out)
    machine.save(out)
    out.toArray
  }

  /** Restores the result of [[save]] into the buffers of this group. */
  def restore(bytes: Array[Byte]): Unit = {
    val in = new ByteReader(bytes)
    machine.clock.restoreNow(in)
    pages.restore(in)
    log.restore(in)
    machine.restore(in)
    if (in.remaining > 0) throw new CorruptStateException("stored bytes were not read")
  }

  /** Restores the result of [[save]] into new objects, as in another process. */
  def restart(bytes: Array[Byte]): Unit = {
    open()
    restore(bytes)
  }

  /** Restores the result of [[save]] into new objects with another policy. */
  def restartAs(other: Policy, bytes: Array[Byte]): Unit = {
    policy = other
    restart(bytes)
  }

  /** Stores the group, runs the machine over another group, and restores the first one. Returns
    * the changes of the other group.
    *
    * @param firstRow
    *   the number of the other group's first row
    */
  def serve(other: Seq[Input], firstRow: Int): Seq[ObservedChange] = {
    val (bytes, own, next) = (save(), segments.target, rows)
    segments.target = new HeapSegments
    rows = firstRow
    startGroup()
    val emitted = other.flatMap(feed)
    segments.target = own
    rows = next
    restore(bytes)
    emitted
  }

  /** Deletes the state of a removed group and restarts it with the same clock. */
  def dropForgotten(): Unit = {
    val clock = machine.clock.now
    drop()
    machine.advance(clock)
  }

  /** Deletes the whole state of the group, its clock included. */
  def drop(): Unit = {
    log.discard()
    pages.discard()
    pages.clear()
    machine.clear()
  }

  private def startGroup(): Unit = {
    pages.clear()
    log.clear()
    machine.clear()
  }

  private def open(): Unit = {
    pages = new Pages(new ShiftedSegments(segments, 1L << 60), new PageMemory(pageBytes))
    log =
      if (policy.leavesHoles) new RowTree(pages, policy.needsArrivals)
      else new RowLog(segments, policy.needsArrivals)
    changes = new ChangeQueue(policy.stream, ignoresReports = skipsReports)
    val declared = new DeclaredExpressions(policy, evaluator(rowAt))
    machine = new Machine(policy, idle.getOrElse(Clock.Never), log, pages, declared, changes)
  }

  /** Fails if a row leaves for a reason that the pieces of the policy do not name. */
  private def requireKnownReason(): Unit = if (changes.kind == ChangeKind.Delete) {
    val reason = ChangeReason.Names(changes.reason)
    require(
      policy.reasons.contains(changes.reason),
      s"a row left as $reason; the reasons are ${policy.reasons.map(ChangeReason.Names)}")
  }

  private def drain(): Seq[ObservedChange] = {
    val emitted = Seq.newBuilder[ObservedChange]
    while (!changes.isEmpty) {
      changes.next()
      requireKnownReason()
      if (!onlyChanges || ChangeKind.isChange(changes.kind)) {
        emitted += ObservedChange(
          changes.isInsert,
          if (changes.ordinal < changes.end) rowAt(changes.ordinal) else DrivenGroup.NoRow,
          changes.at,
          changes.step,
          changes.sequence,
          changes.window)
      }
    }
    machine.settle()
    emitted.result()
  }

  private def rowAt(ordinal: Long): Int = {
    log.find(ordinal)
    val payload = new Array[Byte](log.rowLength)
    System.arraycopy(log.rowBytes, log.rowPosition, payload, 0, payload.length)
    if (payload.length < 4) -1 else ByteBuffer.wrap(payload).getInt
  }
}

object DrivenGroup {

  /** The row number in a report without rows. */
  val NoRow: Int = -1

  /** Segments of the group that is currently processed. */
  private final class SwitchedSegments extends Segments {
    var target = new HeapSegments

    override def get(number: Long): Array[Byte] = target.get(number)
    override def put(number: Long, bytes: Array[Byte]): Unit = target.put(number, bytes)
    override def remove(number: Long): Unit = target.remove(number)
  }

  /** The bytes of a row: its number, followed by padding of varying length. */
  private def payload(row: Int): Array[Byte] =
    ByteBuffer.allocate(4 + row % 23).putInt(row).array
}
