package winops.spark.state

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.storage.bytes.{ByteReader, ByteWriter, Segments}
import winops.storage.rows.RowCheck
import winops.window.time.Clock

/** The timer service of a stream, whose timers are stored in the partition of their groups,
  * beside the partition's [[PartitionSummary]].
  *
  * @param segments
  *   the storage; segment 0 contains this object, the others contain timers
  * @param identity
  *   the [[StateIdentity]] of the running query; state with an incompatible one is refused
  * @param width
  *   the number of columns of a group key
  * @param now
  *   the instant up to which timers fire in this micro-batch
  * @param idleMillis
  *   the idle time in milliseconds after which a group is removed. If it or the span of the
  *   window has changed at a restart, every group is processed once, because its timer has the
  *   old time.
  * @param allGroups
  *   the keys of all groups
  * @param keyCheck
  *   checks each group key that is read
  * @param rankOf
  *   the place of a group in the order in which the task's groups are processed; groups that have
  *   rows come in this order too
  * @param takesAll
  *   true if all groups are processed in this micro-batch
  */
final class StateTimerService(
    segments: Segments,
    identity: String,
    width: Int,
    now: Long,
    idleMillis: Option[Long],
    allGroups: => Seq[UnsafeRow],
    keyCheck: RowCheck = RowCheck.Nothing,
    rankOf: UnsafeRow => Long = _ => 0L,
    takesAll: Boolean = false)
    extends TimerService {
  private val timers = new TimerWheel(segments, width, keyCheck)
  private var groups = 0L
  private var rows = 0L
  private var waiting = 0L
  private var idleBefore = idleMillis.getOrElse(Clock.Never)
  private var leavesAtOtherTimes = false

  private var passed = Long.MinValue

  StateErrors.translated(restore(segments.get(PartitionSummary.Number)))

  private val due = StateErrors.translated(timers.takeDue(now))
  if (takesAll || leavesAtOtherTimes || idleBefore != idleMillis.getOrElse(Clock.Never)) {
    StateErrors.translated(allGroups.foreach(due.add))
  }

  /** The time of the earliest timer, or [[Clock.Never]]. */
  def earliestDue: Long = timers.earliest
  def groupsRemembered: Long = groups
  def rowsHeld: Long = rows

  /** The number of rows that wait for the watermark. */
  def rowsWaiting: Long = waiting

  override def timePassed: Long = passed

  private val ranked =
    due.asScala.map(key => rankOf(key) -> key).toVector.sortBy(_._1).iterator.buffered

  /** The groups that [[nextExpired]] has returned. */
  private val taken = new java.util.HashSet[UnsafeRow]

  override def cancel(key: UnsafeRow): Unit = if (!due.isEmpty) {
    // Such a group would have advanced to the end of the micro-batch before its rows arrive.
    require(!taken.contains(key), "the rows of a task are not in the order of their groups")
    due.remove(key)
  }

  override def nextExpired(): UnsafeRow = {
    skipCancelled()
    if (ranked.hasNext) take() else null
  }

  override def nextExpiredBefore(key: UnsafeRow): UnsafeRow = {
    skipCancelled()
    if (ranked.hasNext && ranked.head._1 < rankOf(key)) take() else null
  }

  private def take(): UnsafeRow = {
    val (_, key) = ranked.next()
    taken.add(key)
    key
  }

  private def skipCancelled(): Unit =
    while (ranked.hasNext && !due.contains(ranked.head._2)) ranked.next()

  override def register(due: Long, key: UnsafeRow): Unit = timers.add(due, now, key)

  override def count(moreGroups: Long, moreRows: Long, moreWaiting: Long): Unit = {
    groups += moreGroups
    rows += moreRows
    waiting += moreWaiting
  }

  def save(): Unit = StateErrors.translated {
    val out = new ByteWriter
    val idle = idleMillis.getOrElse(Clock.Never)
    PartitionSummary(identity, idle, Math.max(passed, now), groups, rows, waiting).save(out)
    timers.save(out)
    segments.put(PartitionSummary.Number, out.toArray)
  }

  private def restore(bytes: Array[Byte]): Unit =
    if (bytes != null) {
      val in = new ByteReader(bytes)
      val before = PartitionSummary.restore(in)
      StateIdentity.check(before.identity, identity)
      leavesAtOtherTimes = StateIdentity.changesDueTimes(before.identity, identity)
      idleBefore = before.idle
      passed = before.passed
      groups = before.groups
      rows = before.rows
      waiting = before.waiting
      timers.restore(in)
      in.finish()
    }
}
