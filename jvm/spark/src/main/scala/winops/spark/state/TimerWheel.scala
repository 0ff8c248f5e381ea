package winops.spark.state

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException, Segments}
import winops.storage.rows.RowCheck
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
  private var nextSlot = 1L

  /** The time of the earliest timer, or [[Clock.Never]]. */
  def earliest: Long =
    buckets.valuesIterator.map(_.firstDue).minOption.getOrElse(Clock.Never)

  /** Adds a timer of a group that fires at `due`; its distance from `now` decides the bucket. */
  def add(due: Long, now: Long, key: UnsafeRow): Unit = {
    val bucket = buckets.getOrElseUpdate(bucketOf(due, now), new TimerBucket)
    bucket.firstDue = Math.min(bucket.firstDue, due)
    bucket.fresh.number(due)
    bucket.fresh.block(key.getBytes)
    bucket.grown = true
  }

  /** Removes the timers that fire at `now` or earlier, and returns their groups. */
  def takeDue(now: Long): java.util.Set[UnsafeRow] = {
    val due = new java.util.LinkedHashSet[UnsafeRow]
    buckets.filter { case (_, bucket) => bucket.firstDue <= now }.keys.toSeq.foreach { start =>
      val bucket = buckets.remove(start).get
      bucket.slots.foreach { slot =>
        val entries = new ByteReader(stored(slot))
        while (entries.remaining > 0) {
          val at = entries.number()
          val key = keyOf(entries.block())
          if (at <= now) due.add(key) else add(at, now, key)
        }
        slots.remove(slot)
      }
    }
    due
  }

  /** Writes the new entries into slots, and the index of all buckets to `out`. */
  def save(out: ByteWriter): Unit = {
    buckets.valuesIterator.filter(_.grown).foreach(store)
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
    (0L until in.count(in.remaining.toLong)).foreach { _ =>
      val bucket = new TimerBucket
      buckets.put(in.number(), bucket)
      bucket.firstDue = in.number()
      (0L until in.count(in.remaining.toLong)).foreach(_ => bucket.slots += in.number())
    }
  }

  private def store(bucket: TimerBucket): Unit = {
    val fresh = bucket.fresh.toArray
    val last = bucket.slots.lastOption.map(slot => slot -> stored(slot))
    last match {
      case Some((slot, entries)) if entries.length + fresh.length <= FullSlotBytes =>
        slots.put(slot, entries ++ fresh)
      case _ =>
        slots.put(nextSlot, fresh)
        bucket.slots += nextSlot
        nextSlot += 1
    }
    bucket.fresh.clear()
    bucket.grown = false
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

  /** Buckets are at most an eighth as wide as the time until their timers fire, but at least 1
    * ms.
    */
  private val BucketsPerDoubling = 8L

  /** Timers of one time span: the earliest time, the slots with stored entries, and new entries.
    */
  private final class TimerBucket {
    var firstDue: Long = Clock.Never
    val slots: mutable.ArrayBuffer[Long] = mutable.ArrayBuffer.empty
    val fresh: ByteWriter = new ByteWriter
    var grown: Boolean = false
  }

  private def bucketOf(due: Long, now: Long): Long = {
    val away = Math.max(1L, if (now == Long.MinValue) Math.abs(due) else due - now)
    val span = Math.max(1L, java.lang.Long.highestOneBit(away) / BucketsPerDoubling)
    Math.floorDiv(due, span) * span
  }
}
