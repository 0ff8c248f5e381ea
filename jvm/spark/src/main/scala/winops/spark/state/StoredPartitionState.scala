package winops.spark.state

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.spark.plan.RestartOptions
import winops.storage.bytes.{ByteReader, ByteWriter, Segments}
import winops.storage.rows.RowCheck
import winops.window.time.Clock

/** The timers and numbers of a stream, which are stored in the partition of their groups, beside
  * the partition's [[PartitionSummary]].
  *
  * @param segments
  *   the storage; segment 0 contains this object, the others contain timers
  * @param identity
  *   the [[StateIdentity]] of the running query; state with an incompatible one is refused
  * @param width
  *   the number of columns of a group key
  * @param now
  *   the instant up to which timers fire in this micro-batch, or at its beginning if [[advance]]
  *   moves on
  * @param idleMillis
  *   the idle time in milliseconds after which a group is removed. If it or the span of the
  *   window has changed at a restart, every group is processed once, because its timer has the
  *   old time. The same holds if the stored form of the groups has changed.
  * @param allGroups
  *   the keys of all groups
  * @param keyCheck
  *   checks each group key that is read
  * @param rankOf
  *   the place of a group in the order in which the task's groups are processed, which is that of
  *   the groups that have rows
  * @param takesAll
  *   true if all groups are processed in this micro-batch
  * @param isFlushed
  *   true if the rows at `now` are applied too, as in a flush
  * @param largestGroups
  *   receives the sizes of the groups that are processed
  * @param options
  *   the arguments of the running query for a restart
  * @param historyRead
  *   the table that this micro-batch begins with
  * @param flushedBefore
  *   the watermark of a flush in a state that the table replaces
  */
final class StoredPartitionState(
    segments: Segments,
    identity: String,
    width: Int,
    now: Long,
    idleMillis: Option[Long],
    allGroups: => Iterator[UnsafeRow],
    keyCheck: RowCheck = RowCheck.Nothing,
    rankOf: UnsafeRow => Long = _ => 0L,
    takesAll: Boolean = false,
    isFlushed: Boolean = false,
    largestGroups: LargestGroups = new LargestGroups(0),
    options: RestartOptions = RestartOptions(),
    historyRead: Option[HistoryTimes] = None,
    flushedBefore: Option[Long] = None)
    extends PartitionState {
  private val timers = new TimerWheel(segments, width, keyCheck)
  private var groups = 0L
  private var rows = 0L
  private var waiting = 0L
  private var idleBefore = idleMillis.getOrElse(Clock.Never)
  private var leavesAtOtherTimes = false
  private var before: Option[RebuiltState] = None

  /** The instant up to which timers of all groups have fired. */
  private var passed = Long.MinValue

  /** The instant up to which timers have been handed out. */
  private var reached = now
  private var wasFlushed = false
  private var historyBefore: Option[HistoryTimes] = None

  StateErrors.translated(restore(segments.get(PartitionSummary.Number)))

  private val due = new RankedGroups(width, rankOf)
  StateErrors.translated {
    timers.takeDue(now)(due.add)
    // The iterator ends before the first write to the store.
    if (takesAll || leavesAtOtherTimes || before.isDefined ||
      idleBefore != idleMillis.getOrElse(Clock.Never)) allGroups.foreach(due.add)
  }

  /** The time of the earliest timer, or [[Clock.Never]]. */
  def earliestDue: Long = timers.earliest
  def groupsRemembered: Long = groups
  override def rowsHeld: Long = rows

  /** The number of rows that wait for the watermark. */
  def rowsWaiting: Long = waiting

  override def timePassed: Long = passed

  /** The watermark of a flush after which no later one has come. */
  def flushed: Option[Long] = Option.when(wasFlushed)(passed).orElse(flushedBefore)

  /** The table that an earlier micro-batch began with, while its times matter. */
  def history: Option[HistoryTimes] = historyBefore

  override def rebuilt: Option[RebuiltState] = before

  /** The greatest rank of a group that was returned. */
  private var rankTaken = Long.MinValue

  /** Cancelled groups that may still be due, and the greatest of their ranks. */
  private val cancelled = mutable.Set.empty[UnsafeRow]
  private var lastCancelled = Long.MinValue

  override def cancel(key: UnsafeRow): Unit = if (due.hasNext) {
    val rank = rankOf(key)
    if (due.headRank <= rank) {
      if (due.head == key) due.take()
      else {
        cancelled += key.copy()
        lastCancelled = Math.max(lastCancelled, rank)
      }
    }
  }

  override def nextExpired(): UnsafeRow = {
    skipCancelled()
    if (due.hasNext) due.take() else null
  }

  override def nextExpiredBefore(key: UnsafeRow): UnsafeRow =
    if (!due.hasNext) null
    else {
      val rank = rankOf(key)
      // The time of such a group would have advanced before its rows arrive.
      require(rank >= rankTaken, "the rows of a task are not in the order of their groups")
      skipCancelled()
      if (due.hasNext && due.headRank < rank) {
        rankTaken = due.headRank
        due.take()
      } else null
    }

  private def skipCancelled(): Unit = if (cancelled.nonEmpty) {
    while (due.hasNext && cancelled.contains(due.head)) due.take()
    if (!due.hasNext || due.headRank > lastCancelled) cancelled.clear()
  }

  override def register(due: Long, key: UnsafeRow): Unit = timers.add(due, reached, key)

  /** Moves on to a later instant in the middle of a micro-batch, when all timers have fired that
    * were handed out before. An earlier instant has no effect.
    *
    * @param take
    *   receives the groups whose timers fire up to that instant, each once or repeatedly
    */
  def advance(instant: Long)(take: UnsafeRow => Unit): Unit = if (instant > reached) {
    passed = Math.max(passed, reached)
    reached = instant
    if (timers.earliest <= instant) StateErrors.translated(timers.takeDue(instant)(take))
  }

  override def count(moreGroups: Long, moreRows: Long, moreWaiting: Long): Unit = {
    groups += moreGroups
    rows += moreRows
    waiting += moreWaiting
  }

  override def measure(key: UnsafeRow, rows: Long): Unit = largestGroups.add(key, rows)

  def save(): Unit = StateErrors.translated {
    val out = new ByteWriter
    val idle = idleMillis.getOrElse(Clock.Never)
    // Once the watermark is later, it makes the same rows late.
    val flushed = isFlushed && now >= passed || wasFlushed && now <= passed ||
      flushedBefore.exists(now <= _)
    val until = Math.max(Math.max(passed, reached), flushedBefore.getOrElse(Long.MinValue))
    val history = historyRead.orElse(historyBefore).filter(_.end >= until)
    PartitionSummary(identity, idle, until, flushed, groups, rows, waiting, history).save(out)
    timers.save(out)
    segments.put(PartitionSummary.Number, out.toArray)
  }

  private def compare(stored: PartitionSummary): Unit = {
    val plan = StateIdentity.check(stored.identity, identity, options)
    leavesAtOtherTimes = StateIdentity.changesDueTimes(stored.identity, identity)
    before = Option.when(plan.rewrites) {
      new RebuiltState(stored.identity, identity, stored.idle, plan.carries)
    }
  }

  private def restore(bytes: Array[Byte]): Unit =
    if (bytes != null) {
      val in = new ByteReader(bytes)
      val stored = PartitionSummary.restore(in)
      if (stored.identity != identity) compare(stored)
      idleBefore = stored.idle
      passed = stored.passed
      wasFlushed = stored.isFlushed
      groups = stored.groups
      rows = stored.rows
      waiting = stored.waiting
      historyBefore = stored.history
      timers.restore(in)
      in.finish()
    }
}
