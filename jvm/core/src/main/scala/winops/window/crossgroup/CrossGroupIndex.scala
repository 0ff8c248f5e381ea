package winops.window.crossgroup

import java.util.Comparator

import scala.collection.mutable

import winops.policy.Reclaim
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}
import winops.window.time.Clock

/** All groups of a policy whose groups depend on each other: in the order in which rows came to
  * them last, and in the order in which they are due.
  *
  * @param reclaim
  *   the rule by which groups are forgotten because of others, if there is one
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

  /** Whether a group that a row came to is not silent though its window did not admit the row. */
  val countsRefusedRows: Boolean = reclaim.exists(_.isInstanceOf[Reclaim.SweptAtArrival])

  /** How many groups there are. */
  def size: Long = groups.size.toLong

  /** How many rows all groups hold. */
  def held: Long = rows

  /** Number of rows that a group holds. */
  def heldBy(group: G): Long = groups.get(group).fold(0L)(_.rows)

  /** When the group that is due first is due; [[Clock.Never]] if none is. */
  def nextDue: Long = if (dues.isEmpty) Clock.Never else dues.first.due

  /** The group that is due first; of several, the one that was created first. */
  def firstDue: G = dues.first.group

  /** All groups, the one that was created first being the first. */
  def inOrderOfCreation: Seq[G] = groups.values.toSeq.sortBy(_.created).map(_.group)

  /** The groups that are dropped without a word before a row arrives at `at`. */
  def sweptBefore(at: Long): Seq[G] = reclaim match {
    case Some(Reclaim.SweptAtArrival(millis, every)) if lastSweep.forall(at >= _ + every) =>
      lastSweep = Some(at)
      groups.valuesIterator.takeWhile(at - _.lastArrival > millis).map(_.group).toSeq
    case _ => Nil
  }

  /** A row came to the group at `at`; it holds `held` rows now and is due at `due`. */
  def arrived(group: G, at: Long, held: Long, due: Long): Unit = {
    val before = groups.get(group)
    removed(group)
    val number = before.fold(created)(_.created)
    if (before.isEmpty) created += 1
    add(Entry(group, number, at, held, due))
  }

  /** The group holds `held` rows now and is due at `due`, though no row came. */
  def changed(group: G, held: Long, due: Long): Unit = groups.get(group).foreach { entry =>
    rows += held - entry.rows
    dues.remove(entry)
    val now = entry.copy(rows = held, due = due)
    groups.update(group, now)
    if (due != Clock.Never) dues.add(now)
  }

  /** The group is no more. */
  def removed(group: G): Unit = groups.remove(group).foreach { entry =>
    rows -= entry.rows
    dues.remove(entry)
  }

  /** Whether groups have to leave because there are too many groups or rows. */
  def isTooMuch: Boolean = reclaim match {
    case Some(Reclaim.MoreGroupsThan(limit)) => groups.size > limit
    case Some(Reclaim.MoreRowsThan(limit)) => rows > limit
    case _ => false
  }

  /** The group to which rows came least recently. */
  def oldest: G = groups.head._1

  /** Whether there is a group to which rows came least recently, and it holds no rows. */
  def oldestIsEmpty: Boolean = groups.headOption.exists(_._2.rows == 0)

  /** @param group
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

  /** @param group
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
