package winops.spark.state

import java.nio.charset.StandardCharsets.UTF_8

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.storage.bytes.{ByteReader, ByteWriter, Segments}
import winops.storage.rows.RowCheck
import winops.window.time.Clock

/** What a partition of the state remembers beside its groups: what keep it belongs to, how much
  * there is, and which groups are due when.
  *
  * @param segments
  *   keeps it; number 0 is this object's own, the others are the timers'
  * @param identity
  *   what keep this is; state of another is refused
  * @param width
  *   the number of columns of a group's key
  * @param now
  *   the instant to which time passes in this batch
  * @param idleMillis
  *   after how much silence groups are forgotten; when a restart changes it, or the span of the
  *   window, all groups are looked at once, because none is entered for the new time
  * @param allGroups
  *   the keys of all groups
  * @param keyCheck
  *   looks at each key of a group that is read
  * @param inOrder
  *   the order in which groups that are due are worked on
  * @param takesAll
  *   whether all groups are worked on in this batch
  */
final class PartitionState(
    segments: Segments,
    identity: String,
    width: Int,
    now: Long,
    idleMillis: Option[Long],
    allGroups: => Seq[UnsafeRow],
    keyCheck: RowCheck = RowCheck.Nothing,
    inOrder: Iterable[UnsafeRow] => Seq[UnsafeRow] = _.toSeq,
    takesAll: Boolean = false)
    extends TimerService {
  private val timers = new TimerWheel(segments, width, keyCheck)
  private var groups = 0L
  private var rows = 0L
  private var waiting = 0L
  private var idleBefore = idleMillis.getOrElse(Clock.Never)
  private var leavesAtOtherTimes = false

  private var passed = Long.MinValue

  StateFormat.reading(restore(segments.get(PartitionState.Number)))

  private val due = StateFormat.reading(timers.takeDue(now))
  if (takesAll || leavesAtOtherTimes || idleBefore != idleMillis.getOrElse(Clock.Never)) {
    StateFormat.reading(allGroups.foreach(due.add))
  }

  /** The time of the earliest timer, or [[Clock.Never]]. */
  def earliestDue: Long = timers.earliest
  def groupsRemembered: Long = groups
  def rowsHeld: Long = rows

  /** How many of the rows wait for the watermark. */
  def rowsWaiting: Long = waiting

  override def timePassed: Long = passed

  override def cancel(key: UnsafeRow): Unit = if (!due.isEmpty) due.remove(key)

  private lazy val notCancelled = inOrder(due.asScala).iterator

  override def nextExpired(): UnsafeRow = if (notCancelled.hasNext) notCancelled.next() else null

  override def register(due: Long, key: UnsafeRow): Unit = timers.add(due, now, key)

  override def count(moreGroups: Long, moreRows: Long, moreWaiting: Long): Unit = {
    groups += moreGroups
    rows += moreRows
    waiting += moreWaiting
  }

  def save(): Unit = StateFormat.reading {
    val out = new ByteWriter
    out.byte(StateFormat.Version)
    out.block(identity.getBytes(UTF_8))
    out.number(idleMillis.getOrElse(Clock.Never))
    out.number(Math.max(passed, now))
    out.number(groups)
    out.number(rows)
    out.number(waiting)
    timers.save(out)
    segments.put(PartitionState.Number, out.toArray)
  }

  private def restore(bytes: Array[Byte]): Unit =
    if (bytes != null) {
      val in = new ByteReader(bytes)
      val before = PartitionState.summary(in)
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

object PartitionState {
  private val Number = 0L

  /** What a partition says of itself.
    *
    * @param idle
    *   after how much silence groups were forgotten, in milliseconds; [[Clock.Never]] for never
    * @param passed
    *   the instant to which time had passed for every group
    */
  final case class Summary(
      identity: String,
      idle: Long,
      passed: Long,
      groups: Long,
      rows: Long,
      waiting: Long)

  /** What stands in the segments of a partition; none before its first batch. */
  def summary(segments: Segments): Option[Summary] =
    Option(segments.get(Number)).map(bytes => summary(new ByteReader(bytes)))

  private def summary(in: ByteReader): Summary = {
    StateFormat.checkVersion(in)
    Summary(
      new String(in.block(), UTF_8),
      in.number(),
      Clock.restore(in),
      in.count(Long.MaxValue),
      in.count(Long.MaxValue),
      in.count(Long.MaxValue))
  }
}
