package winops.testing

import java.nio.ByteBuffer

import winops.policy.Policy
import winops.storage.btree.{PageMemory, Pages}
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException, HeapSegments, ShiftedSegments}
import winops.storage.rows.{PatchedRowLog, RowLog}
import winops.terms.RowExpression
import winops.window.changes.{ChangeKind, ChangeQueue, ChangeReason}
import winops.window.machine.Machine
import winops.window.time.Clock

/** One operation on a group of rows with a primary key.
  *
  * @param k
  *   the primary key
  * @param u
  *   a second key, of `#unique` and `#rank`
  * @param v
  *   the value to sort by
  * @param tag
  *   distinguishes the rows
  */
final case class KeyedRow(operation: Int, at: Long, k: Int, u: Int, v: Int, tag: Int)

/** One change of a row with a primary key. */
final case class KeyedChange(
    kind: String,
    row: Long,
    tag: Int,
    at: Long,
    step: Long,
    sequence: Long,
    reason: String)

/** Runs one group of rows with a primary key, as the operator does. */
final class KeyedGroup(policy: Policy, idle: Option[Long], pageBytes: Long) {
  private val segments = new HeapSegments
  private val keyed = policy.copy(key = Seq(RowExpression.Column("k")(0)))
  private var pages: Pages = _
  private var log: PatchedRowLog = _
  private var changes: ChangeQueue = _
  private var machine: Machine = _

  open()
  pages.clear()
  log.clear()
  machine.clear()

  /** Applies an operation; returns its changes and its outcome. */
  def feed(input: KeyedRow): (Seq[KeyedChange], Int) = {
    val at = machine.clock.arrivalAt(input.at)
    machine.advance(at)
    val before = drain()
    val payload = ByteBuffer
      .allocate(20 + input.tag % 7)
      .putInt(input.k)
      .putInt(input.u)
      .putInt(input.v)
      .putInt(input.tag)
      .array
    val position = log.append(at, payload.length)
    System.arraycopy(payload, 0, log.target, position, payload.length)
    val outcome = machine.operate(input.operation, at)
    (before ++ drain(), outcome)
  }

  def advance(at: Long): Seq[KeyedChange] = {
    machine.advance(at)
    drain()
  }

  def isAlive: Boolean = machine.clock.isAlive
  def size: Long = machine.held
  def stored: Long = log.size

  /** The tags of the window contents. */
  def content: Seq[Int] = {
    machine.emitContents()
    drain().map(_.tag)
  }

  def restart(): Unit = {
    val out = new ByteWriter
    machine.clock.saveNow(out)
    pages.save(out)
    log.save(out)
    machine.save(out)
    open()
    val in = new ByteReader(out.toArray)
    machine.clock.restoreNow(in)
    pages.restore(in)
    log.restore(in)
    machine.restore(in)
    if (in.remaining > 0) throw new CorruptStateException("stored bytes were not read")
  }

  /** Starts again as a group that is not stored. Nothing of it may stay in the store. */
  def drop(): Unit = {
    val clock = machine.clock.now
    log.discard()
    pages.discard()
    require(segments.size == 0, s"${segments.size} segments are left")
    pages.clear()
    machine.clear()
    if (clock != Long.MinValue) machine.advance(clock)
  }

  private def open(): Unit = {
    pages = new Pages(new ShiftedSegments(segments, 1L << 60), new PageMemory(pageBytes))
    log = new PatchedRowLog(
      new RowLog(segments, policy.needsArrivals),
      pages,
      withArrival = policy.needsArrivals)
    changes = new ChangeQueue(policy.stream)
    val values = new KeyedGroup.Values(at)
    machine = new Machine(keyed, idle.getOrElse(Clock.Never), log, pages, values, changes)
  }

  private def at(ordinal: Long): ByteBuffer = {
    log.find(ordinal)
    ByteBuffer.wrap(log.rowBytes, log.rowPosition, log.rowLength).slice()
  }

  private def drain(): Seq[KeyedChange] = {
    val emitted = Seq.newBuilder[KeyedChange]
    while (!changes.isEmpty) {
      changes.next()
      val kind = changes.kind match {
        case ChangeKind.Insert => "insert"
        case ChangeKind.Delete | ChangeKind.GroupDelete => "delete"
        case ChangeKind.UpdateBefore => "update_before"
        case ChangeKind.UpdateAfter => "update_after"
        case other => s"kind $other"
      }
      emitted += KeyedChange(
        kind,
        changes.ordinal,
        at(changes.ordinal).getInt(12),
        changes.at,
        changes.step,
        changes.sequence,
        ChangeReason.Names(changes.reason))
    }
    machine.settle()
    emitted.result()
  }
}

object KeyedGroup {
  import winops.terms.SortKey
  import winops.window.expression.{Evaluator, RowCondition, RowKey, RowNumber}

  private final class Values(row: Long => ByteBuffer) extends Evaluator {
    override def key(expressions: Seq[RowExpression]): RowKey = ordinal =>
      expressions.flatMap(bytes(ordinal, _)).toArray

    override def sortKey(by: Seq[SortKey]): RowKey = key(by.map(_.expression))
    override def timestamp(expression: RowExpression): RowNumber = refused
    override def number(expression: RowExpression): RowNumber = refused
    override def condition(expression: RowExpression): RowCondition = refused

    /** Keys above 500 are long. */
    private def bytes(ordinal: Long, of: RowExpression): Array[Byte] = of match {
      case RowExpression.Column("k") =>
        val k = row(ordinal).getInt(0)
        if (k > 500) number(k) ++ new Array[Byte](30) else number(k)
      case RowExpression.Column("u") => number(row(ordinal).getInt(4))
      case RowExpression.Column("v") => number(row(ordinal).getInt(8))
      case other => throw new IllegalArgumentException(s"no value of $other")
    }

    private def number(value: Int): Array[Byte] = ByteBuffer.allocate(4).putInt(value).array

    private def refused: Nothing = throw new IllegalArgumentException("no such value")
  }
}
