package winops.spark.state

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException, Segments}
import winops.storage.rows.{RowBuffer, RowCheck, RowLayout}
import winops.window.time.Clock

/** The timers of a partition's groups, as a timing wheel in the state store.
  *
  * A bucket holds the timers of one time span; near spans are narrow and far spans wide, so that
  * buckets are few. Timers are not deleted when a group is removed or rescheduled, so an entry
  * may be stale: the caller of [[takeDue]] checks the group and registers its next timer. A
  * bucket is read only when one of its timers may have expired.
  *
  * @param slots
  *   the storage of the buckets' entries, under numbers from 1 on
  * @param width
  *   the number of columns of a group key
  * @param keyCheck
  *   checks each group key that is read
  */
final class TimerWheel(slots: Segments, width: Int, keyCheck: RowCheck = RowCheck.Nothing) {
  import TimerWheel._

  private val buckets = mutable.TreeMap.empty[Long, TimerBucket]
  private val packed = new ByteWriter
  private val read = new RowBuffer(withArrival = true)
  private val sorted = new RowBuffer(withArrival = true)
  private var nextSlot = 1L

  /** The memory of the new entries of all buckets. */
  private var freshBytes = 0L

  private var earliestDue: Long = Clock.Never

  /** The time of the earliest timer, or [[Clock.Never]]. A task of real-time mode reads it for
    * each row.
    */
  def earliest: Long = earliestDue

  /** Adds a timer of a group that fires at `due`; its distance from `now` decides the bucket. */
  def add(due: Long, now: Long, key: UnsafeRow): Unit = {
    val bucket = buckets.getOrElseUpdate(bucketOf(due, now), new TimerBucket)
    bucket.firstDue = Math.min(bucket.firstDue, due)
    earliestDue = Math.min(earliestDue, due)
    val bytes = key.getBytes
    if (bucket.fresh == null) bucket.fresh = new RowBuffer(withArrival = true)
    val at = bucket.fresh.append(due, bytes.length)
    System.arraycopy(bytes, 0, bucket.fresh.bytes, at, bytes.length)
    freshBytes += FreshHeaderBytes + bytes.length
    if (freshBytes > MaxFreshBytes) storeFresh()
  }

  /** Removes the timers that fire at `now` or earlier.
    *
    * @param take
    *   receives their groups, each once or repeatedly; it adds no timers
    */
  def takeDue(now: Long)(take: UnsafeRow => Unit): Unit = if (earliestDue <= now) {
    buckets.filter { case (_, bucket) => bucket.firstDue <= now }.keys.toSeq.foreach { start =>
      val bucket = buckets.remove(start).get
      def visit(at: Long, key: UnsafeRow): Unit = if (at <= now) take(key) else add(at, now, key)
      bucket.slots.foreach { slot =>
        foreachIn(slot)(visit)
        slots.remove(slot)
      }
      // Only a task of real-time mode has added timers before it takes some.
      if (bucket.fresh != null) {
        foreachTimer(bucket.fresh) { (at, key) =>
          freshBytes -= FreshHeaderBytes + key.getSizeInBytes
          visit(at, key)
        }
      }
    }
    findEarliest()
  }

  private def findEarliest(): Unit =
    earliestDue = buckets.valuesIterator.map(_.firstDue).minOption.getOrElse(Clock.Never)

  /** Writes the new entries into slots, and the index of all buckets to `out`. */
  def save(out: ByteWriter): Unit = {
    storeFresh()
    out.number(nextSlot)
    out.number(buckets.size.toLong)
    buckets.foreach { case (start, bucket) =>
      out.number(start)
      out.number(bucket.firstDue)
      out.number(bucket.slots.size.toLong)
      bucket.slots.foreach(out.number)
    }
  }

  def restore(in: ByteReader): Unit = {
    nextSlot = in.count(Long.MaxValue)
    if (nextSlot == 0) throw new CorruptStateException("timers without slots")
    val found = mutable.Set.empty[Long]
    (0L until in.count(in.remaining.toLong)).foreach { _ =>
      val bucket = new TimerBucket
      buckets.put(in.number(), bucket)
      bucket.firstDue = in.number()
      (0L until in.count(in.remaining.toLong)).foreach { _ =>
        val slot = in.number()
        if (slot < 1 || slot >= nextSlot || !found.add(slot)) {
          throw new CorruptStateException(s"slot $slot of the timers, before slot $nextSlot")
        }
        bucket.slots += slot
      }
    }
    findEarliest()
  }

  /** Visits the timers of a slot: their times and groups. */
  private def foreachIn(slot: Long)(visit: (Long, UnsafeRow) => Unit): Unit = {
    val entries = new ByteReader(stored(slot))
    while (entries.remaining > 0) {
      val number = entries.count((entries.remaining + 1L << RowLayout.Bits) - 1)
      val layout = number.toInt & RowLayout.Greatest
      read.read(entries, (number >> RowLayout.Bits).toInt, layout = layout)
      foreachTimer(read)(visit)
    }
  }

  private def foreachTimer(timers: RowBuffer)(visit: (Long, UnsafeRow) => Unit): Unit =
    (0 until timers.count).foreach { i =>
      val key = java.util.Arrays
        .copyOfRange(timers.bytes, timers.position(i), timers.position(i) + timers.length(i))
      visit(timers.arrival(i), keyOf(key))
    }

  private def storeFresh(): Unit = {
    buckets.valuesIterator.filter(_.fresh != null).foreach(store)
    freshBytes = 0L
  }

  private def store(bucket: TimerBucket): Unit = {
    packed.clear()
    val fresh = inOrder(bucket.fresh)
    val layout = fresh.layout(fresh.count)
    packed.number(fresh.count.toLong << RowLayout.Bits | layout)
    fresh.write(packed, fresh.count, layout = layout)
    val added = packed.toArray
    val last = bucket.slots.lastOption.map(slot => slot -> stored(slot))
    last match {
      case Some((slot, entries)) if entries.length + added.length <= FullSlotBytes =>
        slots.put(slot, entries ++ added)
      case _ =>
        slots.put(nextSlot, added)
        bucket.slots += nextSlot
        nextSlot += 1
    }
    bucket.fresh = null
  }

  /** Returns the timers in the order of their times, which then differ little, if the times are
    * within some weeks.
    */
  private def inOrder(timers: RowBuffer): RowBuffer = {
    val dues = Array.tabulate(timers.count)(timers.arrival)
    val first = dues.min
    if (dues.max - first < 0 || dues.max - first > Int.MaxValue) timers
    else {
      val places = dues.indices.map(i => dues(i) - first << Integer.SIZE | i.toLong).toArray
      java.util.Arrays.sort(places)
      sorted.clear()
      places.foreach { place =>
        val i = place.toInt
        val at = sorted.append(dues(i), timers.length(i))
        System.arraycopy(timers.bytes, timers.position(i), sorted.bytes, at, timers.length(i))
      }
      sorted
    }
  }

  private def stored(slot: Long): Array[Byte] = {
    val entries = slots.get(slot)
    if (entries == null) {
      throw new CorruptStateException(s"slot $slot of the deadlines is missing")
    }
    entries
  }

  private def keyOf(bytes: Array[Byte]): UnsafeRow = {
    keyCheck.check(bytes, 0, bytes.length)
    val key = new UnsafeRow(width)
    key.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET, bytes.length)
    key
  }
}

object TimerWheel {

  /** The length in bytes up to which entries are appended to a slot. One entry may be longer. */
  private val FullSlotBytes = 1 << 14

  /** The memory in bytes from which new entries are written into slots before the end of the
    * micro-batch, which may register timers of any number of groups.
    */
  private val MaxFreshBytes = 2L << 20

  /** The memory of a new entry beside its key: a time, a length and an offset. */
  private val FreshHeaderBytes = 16

  /** Buckets are at most an eighth as wide as the time until their timers fire, but at least 1
    * ms.
    */
  private val BucketsPerDoubling = 8L

  /** Timers of one time span: the earliest time, the slots with stored entries, and new entries.
    */
  private final class TimerBucket {
    var firstDue: Long = Clock.Never
    val slots: mutable.ArrayBuffer[Long] = mutable.ArrayBuffer.empty

    /** The keys of new timers, with their times; null without new timers. */
    var fresh: RowBuffer = _
  }

  private def bucketOf(due: Long, now: Long): Long = {
    val away = Math.max(1L, if (now == Long.MinValue) Math.abs(due) else due - now)
    val span = Math.max(1L, java.lang.Long.highestOneBit(away) / BucketsPerDoubling)
    Math.floorDiv(due, span) * span
  }
}
