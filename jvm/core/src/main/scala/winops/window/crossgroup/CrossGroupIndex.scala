package winops.window.crossgroup

import java.util.Comparator

import scala.collection.mutable

import winops.policy.Reclaim
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}
import winops.window.time.Clock

/** The groups of a cross-group policy, ordered by their last arrival and by their earliest timer.
  *
  * @param reclaim
  *   the rule that removes groups because of other groups, if there is one
  */
final class CrossGroupIndex[G](reclaim: Option[Reclaim]) {
  import CrossGroupIndex._

  private val groups = mutable.LinkedHashMap.empty[G, Entry[G]]
  private val dues = new java.util.TreeSet[Entry[G]](
    Comparator
      .comparingLong[Entry[G]](_.due)
      .thenComparingLong(_.created))
  private var rows = 0L
  private var created = 0L
  private var lastSweep = Option.empty[Long]

  /** True if a refused row counts as an arrival for a group that has state. */
  val countsRefusedRows: Boolean = reclaim.exists(_.isInstanceOf[Reclaim.SweptAtArrival])

  /** Number of groups. */
  def size: Long = groups.size.toLong

  /** Number of rows that all groups hold. */
  def held: Long = rows

  /** Number of rows that a group holds. */
  def heldBy(group: G): Long = groups.get(group).fold(0L)(_.rows)

  /** The earliest timer of all groups; [[Clock.Never]] if there is none. */
  def nextDue: Long = if (dues.isEmpty) Clock.Never else dues.first.due

  /** The group with the earliest timer; of several, the group created first. */
  def firstDue: G = dues.first.group

  /** All groups in order of creation. */
  def inOrderOfCreation: Seq[G] = groups.values.toSeq.sortBy(_.created).map(_.group)

  /** The idle groups that a sweep removes without deletes before a row arrives at `at`. Notes the
    * sweep, so that the next one is at least the policy's interval later.
    */
  def sweptBefore(at: Long): Seq[G] = reclaim match {
    case Some(Reclaim.SweptAtArrival(millis, every)) if lastSweep.forall(at >= _ + every) =>
      lastSweep = Some(at)
      groups.valuesIterator.takeWhile(at - _.lastArrival > millis).map(_.group).toSeq
    case _ => Nil
  }

  /** Notes that a row arrived in the group at `at`, after which the group holds `held` rows and
    * has its earliest timer at `due`. Adds the group if it is new.
    */
  def arrived(group: G, at: Long, held: Long, due: Long): Unit = {
    val before = groups.get(group)
    removed(group)
    val number = before.fold(created)(_.created)
    if (before.isEmpty) created += 1
    add(Entry(group, number, at, held, due))
  }

  /** Notes that the group holds `held` rows and has its earliest timer at `due`, though no row
    * arrived. Has no effect on an unknown group.
    */
  def changed(group: G, held: Long, due: Long): Unit = groups.get(group).foreach { entry =>
    rows += held - entry.rows
    dues.remove(entry)
    val now = entry.copy(rows = held, due = due)
    groups.update(group, now)
    if (due != Clock.Never) dues.add(now)
  }

  /** Removes the group from the index. */
  def removed(group: G): Unit = groups.remove(group).foreach { entry =>
    rows -= entry.rows
    dues.remove(entry)
  }

  /** Returns true if there are more groups or rows than the policy allows. */
  def isTooMuch: Boolean = reclaim match {
    case Some(Reclaim.MoreGroupsThan(limit)) => groups.size > limit
    case Some(Reclaim.MoreRowsThan(limit)) => rows > limit
    case _ => false
  }

  /** The group with the least recent arrival. */
  def oldest: G = groups.head._1

  /** Returns true if the group with the least recent arrival holds no rows; false if there is no
    * group.
    */
  def oldestIsEmpty: Boolean = groups.headOption.exists(_._2.rows == 0)

  /** Writes the groups in the order of their last arrivals.
    *
    * @param group
    *   writes a group
    */
  def save(out: ByteWriter)(group: G => Unit): Unit = {
    out.byte(if (lastSweep.isEmpty) 0 else 1)
    out.number(lastSweep.getOrElse(0L))
    out.number(created)
    out.number(groups.size.toLong)
    groups.valuesIterator.foreach { entry =>
      group(entry.group)
      out.number(entry.created)
      out.number(entry.lastArrival)
      out.number(entry.rows)
      out.number(entry.due)
    }
  }

  /** Reads the groups in the order of [[save]].
    *
    * @param group
    *   reads a group
    */
  def restore(in: ByteReader)(group: => G): Unit = {
    val hasSwept = in.byte() == 1
    val swept = in.number()
    lastSweep = Option.when(hasSwept)(swept)
    created = in.count(Long.MaxValue)
    groups.clear()
    dues.clear()
    rows = 0L
    val count = in.count(in.remaining.toLong)
    (0L until count).foreach { _ =>
      val entry =
        Entry(group, in.count(Long.MaxValue), in.number(), in.count(Long.MaxValue), in.number())
      if (groups.contains(entry.group)) {
        throw new CorruptStateException("a group is stored twice")
      }
      add(entry)
    }
  }

  private def add(entry: Entry[G]): Unit = {
    groups.update(entry.group, entry)
    rows += entry.rows
    if (entry.due != Clock.Never) dues.add(entry)
  }
}

private[window] object CrossGroupIndex {
  final case class Entry[G](group: G, created: Long, lastArrival: Long, rows: Long, due: Long)
}
