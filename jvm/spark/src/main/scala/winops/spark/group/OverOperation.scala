package winops.spark.group

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}

import winops.spark.frames.{FrameForm, Frames}
import winops.spark.internal.KeepMetrics
import winops.spark.plan.OverPlan
import winops.spark.row.RowBytes
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}
import winops.storage.rows.RowLog
import winops.window.time.{Clock, GroupClock}

/** Computes window functions for the rows of a group.
  *
  * A row is stored whole until its results have been emitted, and then with the columns that the
  * frames of later rows need.
  *
  * @param logColumns
  *   the columns that are stored of a row whose results have been emitted
  * @param formsBefore
  *   the forms in which groups are stored, if another query has stored them
  */
final class OverOperation(
    plan: OverPlan,
    storage: GroupStorage,
    logColumns: Seq[Attribute],
    formsBefore: Option[Seq[FrameForm]])
    extends Operation {
  def this(plan: OverPlan, storage: GroupStorage) =
    this(plan, storage, Frames.columns(plan), None)

  /** The rows whose results have been emitted. */
  private[group] val log: RowLog = storage.logOf(logColumns)
  private var arrived = 0L
  private var expired = 0L

  /** The rows whose results have not been emitted. */
  val rows: RowLog = storage.rowLog(withArrival = false)

  private val frames = new Frames(plan, rows, log, storage.pages, formsBefore)

  private val silent = new SilentRows

  override val clock = new GroupClock(plan.spec.idleMillis.getOrElse(Clock.Never))

  /** The number of the first row whose results have not been emitted. */
  def next: Long = log.end

  /** Returns true if no further row can change the results of the row [[next]]. */
  def isKnown: Boolean = next < rows.end && frames.isKnown(next)

  /** The results of the row [[next]]; valid until the next call. */
  def results: UnsafeRow = frames.results(next)

  /** Drops the output of the row that arrives next. */
  def silenceNext(): Unit = silent.add(rows.end)

  /** Returns true if the output of the row [[next]] is dropped. */
  def isNextSilent: Boolean = silent.contains(next)

  /** Drops the output of the same rows as `former`, whose rows have the same numbers. */
  private[group] def silenceAs(former: OverOperation): Unit = silent.startAs(former.silent)

  /** Takes note that the results of the row [[next]] have been emitted. */
  def take(): Unit = frames.rows.keepNext()

  override def held: Long = rows.end - log.first
  override def waiting: Long = rows.end - next

  override def nextDue: Long = {
    val idle = if (clock.isAlive) clock.idleDue else Clock.Never
    if (waiting == 0) idle else Math.min(idle, afterMicros(frames.knownAfter(next)))
  }

  override def fireNext(instant: Long): Boolean = {
    val ends = clock.isAlive && clock.idleDue <= instant
    if (ends) {
      expired += 1
      frames.rows.finish()
      clock.restart()
    } else clock.reach(instant)
    ends
  }

  override def arrive(row: UnsafeRow, at: Long): Boolean = {
    RowBytes.append(rows, 0L, row)
    clock.arrived(at)
    arrived += 1
    true
  }

  override def endBatch(known: Long, isLast: Boolean): Unit =
    if (isLast) frames.rows.finish() else frames.rows.complete(known)

  override def release(): Unit = {
    if (next > rows.first) {
      rows.release(next)
      silent.release(next)
      frames.release(next)
    }
    // Of a group that ended, all results have been emitted. Its rows are numbered from 0 again.
    if (!clock.isAlive && rows.end > 0) discard()
  }

  override def releaseOutOfReach(known: Long): Long =
    if (!frames.leaveWithTime || waiting > 0) Clock.Never
    else {
      frames.releaseOutOfReach(known)
      afterMicros(frames.outOfReachAfter)
    }

  /** The first millisecond after a time in microseconds; [[Clock.Never]] after the greatest. */
  private def afterMicros(micros: Long): Long =
    if (micros == Long.MaxValue) Clock.Never else Clock.floorToMillis(micros) + 1

  override def clear(): Unit = {
    rows.clear()
    log.clear()
    frames.clear()
    clock.clear()
    silent.clear()
  }

  override def forget(): Unit = {
    discard()
    clock.clear()
  }

  private def discard(): Unit = {
    rows.discard()
    log.discard()
    frames.clear()
    silent.clear()
  }

  override def settle(): Unit = frames.settle()

  override def save(out: ByteWriter): Unit = {
    rows.save(out)
    out.number(clock.kind(nearLastArrival) + (if (silent.isEmpty) 0 else GroupClock.Kinds))
    clock.save(out, nearLastArrival)
    if (!silent.isEmpty) silent.save(out, next)
    log.save(out)
    frames.save(out)
  }

  override def restoreRows(in: ByteReader): Unit = {
    rows.restore(in)
    val kind = in.count(2 * GroupClock.Kinds - 1)
    clock.restore(in, kind % GroupClock.Kinds, nearLastArrival)
    silent.clear()
    if (kind >= GroupClock.Kinds) silent.restore(in, rows.first)
    log.restore(in)
    if (log.end != rows.first) {
      throw new CorruptStateException(
        s"rows with results end at ${log.end}, and others begin at ${rows.first}")
    }
  }

  override def restoreResults(in: ByteReader): Unit = frames.restore(in, next)

  private def nearLastArrival: Long = rows.newestTime(clock.now)

  override def count(metrics: KeepMetrics): Unit = {
    metrics.inserted += arrived
    metrics.expired += expired
  }
}
