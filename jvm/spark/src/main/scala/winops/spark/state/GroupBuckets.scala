package winops.spark.state

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import winops.spark.row.RowShape
import winops.storage.buckets.{Bucket, LinearHashing}
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}

/** The own values of groups in the entries of a store, those with neighbouring hashes in one
  * entry: what a store asks for an entry is more than what it asks for some hundred bytes.
  *
  * One bucket is open at a time. Groups that come in the order of their hashes cost a read and a
  * write for each bucket; others are found as well. A value that would make its bucket very long
  * has an entry of its own. Nothing is read before it is asked for.
  *
  * @param fixed
  *   how many buckets there are; otherwise it is as many as are good, more and more
  */
private[spark] final class GroupBuckets(entries: StoreEntries, fixed: Option[Long] = None) {
  import GroupBuckets._
  import entries.{hashOf, keys, noGroup}

  private val keyShape = RowShape.of(keys)

  private var hashing: LinearHashing = _
  private var bucketsBefore = 0L
  private var groups = 0L
  private var bytes = 0L
  private var bytesWritten = 0L
  private var totalsChanged = false

  private val bucket = new Bucket
  private val saved = new ByteWriter
  private var start = 0L
  private var isOpen = false
  private var isChanged = false
  private var lengthBefore = 0

  /** How many buckets there are. */
  def size: Long = {
    restoreTotals()
    hashing.buckets
  }

  /** What is stored of a group; null if it has no value. */
  def get(hash: Long, key: Array[Byte]): Array[Byte] = {
    open(hash)
    valueOf(hash, key, bucket.get(key))
  }

  /** Sets the value of a group, of one byte at least. */
  def put(hash: Long, key: Array[Byte], value: Array[Byte]): Unit = {
    open(hash)
    val before = bucket.get(key)
    if (before == null) groups += 1
    growFor(hash, value)
    val lengthThere = if (before == null) 0 else before.length
    if (bucket.bytes - lengthThere + value.length <= MaxBytes) {
      if (isElsewhere(before)) removeElsewhere(hash, key)
      change(key, value)
    } else {
      if (!isElsewhere(before)) change(key, Elsewhere)
      entries.put(hash, rowOf(key), ElsewhereNumber, value)
    }
  }

  /** Removes a group that has a value. */
  def remove(hash: Long, key: Array[Byte]): Unit = {
    open(hash)
    if (isElsewhere(bucket.get(key))) removeElsewhere(hash, key)
    bucket.remove(key)
    groups -= 1
    isChanged = true
  }

  /** Writes what is not written yet; until then nothing but this object knows of it. */
  def flush(): Unit = {
    if (isChanged) write(start, bucket, lengthBefore)
    isChanged = false
    isOpen = false
  }

  /** Writes what is not written yet, in as many buckets as the next batch should find. */
  def finish(): Unit = {
    flush()
    if (totalsChanged) {
      growTo(goodSize(0))
      saved.clear()
      saved.number(hashing.buckets)
      saved.number(groups)
      saved.number(bytes)
      entries.put(0L, noGroup, TotalsNumber, saved.toArray)
      totalsChanged = false
    }
  }

  /** The groups of what is written. */
  def each: Iterator[UnsafeRow] = inBuckets.map(_._1)

  /** The groups of what is written, each with its value. */
  def eachWithValue: Iterator[(UnsafeRow, Array[Byte])] = inBuckets.map { case (group, value) =>
    group -> valueOf(hashOf(group), group.getBytes, value)
  }

  private def inBuckets: Iterator[(UnsafeRow, Array[Byte])] = entries.all
    .filter(entry => entries.numberOf(entry.key) == BucketNumber)
    .flatMap { entry =>
      val in = new Bucket
      in.restore(new ByteReader(entry.value.getBinary(0)))
      val found = mutable.ArrayBuffer.empty[(UnsafeRow, Array[Byte])]
      in.foreach((key, value) => found += rowOf(key) -> value)
      found
    }

  private def open(hash: Long): Unit = {
    restoreTotals()
    val at = hashing.bucketOf(hash)
    if (!isOpen || at != start) {
      flush()
      lengthBefore = read(at)
      start = at
      isOpen = true
    }
  }

  private def change(key: Array[Byte], value: Array[Byte]): Unit = {
    val _ = bucket.put(key, value)
    isChanged = true
  }

  private def valueOf(hash: Long, key: Array[Byte], inBucket: Array[Byte]): Array[Byte] =
    if (!isElsewhere(inBucket)) inBucket
    else {
      val value = entries.get(hash, rowOf(key), ElsewhereNumber)
      if (value == null) throw new CorruptStateException("the value of a group is missing")
      value
    }

  private def isElsewhere(inBucket: Array[Byte]): Boolean =
    inBucket != null && inBucket.length == 0

  private def removeElsewhere(hash: Long, key: Array[Byte]): Unit =
    entries.remove(hash, rowOf(key), ElsewhereNumber)

  /** Makes the bucket what is stored of it; how many bytes that are. */
  private def read(at: Long): Int = {
    val stored = entries.get(at, noGroup, BucketNumber)
    if (stored == null) {
      bucket.clear()
      0
    } else {
      bucket.restore(new ByteReader(stored))
      if (!bucket.isEmpty) checkIsIn(at, hashOf(rowOf(bucket.firstKey)))
      stored.length
    }
  }

  private def checkIsIn(at: Long, hash: Long): Unit =
    if (hashing.bucketOf(hash) != at) {
      throw new CorruptStateException("a group is among those with other hashes")
    }

  private def write(at: Long, written: Bucket, lengthBefore: Int): Unit = {
    bytes -= lengthBefore
    totalsChanged = true
    if (!written.isEmpty) {
      saved.clear()
      written.save(saved)
      val value = saved.toArray
      bytes += value.length
      bytesWritten += value.length
      entries.put(at, noGroup, BucketNumber, value)
    } else if (lengthBefore > 0) entries.remove(at, noGroup, BucketNumber)
  }

  /** How many buckets are good for what is written and so many bytes more. A batch makes no more
    * of them than it has written bytes for, whatever the totals say that it has found.
    */
  private def goodSize(more: Long): Long = Math.min(
    Math.min((bytes + more) / BucketBytes, groups * MaxBucketsPerGroup),
    bucketsBefore + (bytesWritten + more) / BucketBytes)

  /** What has come in this batch may be much for as few buckets as there are. */
  private def growFor(hash: Long, value: Array[Byte]): Unit =
    if (bucket.bytes + value.length > CrowdedBytes && fixed.isEmpty) {
      val more = bucket.bytes + value.length - lengthBefore
      if (goodSize(more) >= 2 * hashing.buckets) {
        flush()
        growTo(goodSize(0))
        open(hash)
      }
    }

  /** Divides buckets, until there are this many. */
  private def growTo(buckets: Long): Unit = if (buckets > hashing.buckets && fixed.isEmpty) {
    val more = LinearHashing(buckets)
    hashing.dividedIn(more).foreach { at =>
      val length = read(at)
      if (!bucket.isEmpty) divide(at, length, more)
    }
    hashing = more
  }

  private def divide(at: Long, length: Int, more: LinearHashing): Unit = {
    val divided = mutable.LongMap(at -> new Bucket)
    bucket.foreach { (key, value) =>
      val hash = hashOf(rowOf(key))
      checkIsIn(at, hash)
      val _ = divided.getOrElseUpdate(more.bucketOf(hash), new Bucket).put(key, value)
    }
    divided.foreach { case (to, part) => write(to, part, if (to == at) length else 0) }
  }

  private def rowOf(key: Array[Byte]): UnsafeRow = {
    val row = new UnsafeRow(keys.size)
    keyShape.pointTo(row, key)
    row
  }

  private def restoreTotals(): Unit = if (hashing == null) {
    val stored = entries.get(0L, noGroup, TotalsNumber)
    val buckets =
      if (stored == null) fixed.getOrElse(1L)
      else {
        val in = new ByteReader(stored)
        val buckets = in.count(MostBuckets)
        groups = in.count(Long.MaxValue)
        bytes = in.count(Long.MaxValue)
        in.finish()
        buckets
      }
    if (buckets == 0) throw new CorruptStateException("a partition has no buckets of groups")
    hashing = LinearHashing(buckets)
    bucketsBefore = buckets
  }
}

private[spark] object GroupBuckets {

  /** Of an entry that is a bucket; its hash is the bucket's, its group is a row of nulls. */
  val BucketNumber = 0L

  /** Of an entry that is the value of one group, which is too long for its bucket. */
  val ElsewhereNumber: Long = Long.MaxValue

  /** Of the entry that says how many buckets, groups and bytes there are. */
  private val TotalsNumber = Long.MinValue

  /** Stands in a bucket for a value that has an entry of its own. */
  private val Elsewhere = Array.emptyByteArray

  /** How long buckets are on average. A batch that touches few groups reads and writes so much
    * with each of them.
    */
  private val BucketBytes = 1L << 10

  /** So long is no bucket by chance, when its groups have short values. */
  private val CrowdedBytes = 16L << 10

  /** How long the values in a bucket may be together. Whoever chooses keys may choose such as
    * have neighbouring hashes, and then no number of buckets divides them.
    */
  private val MaxBytes = 1L << 20

  /** More than will ever be; the buckets of all partitions are a number, too. */
  private val MostBuckets = 1L << 48

  /** Groups with long values should be alone, and further buckets are empty. */
  private val MaxBucketsPerGroup = 4L
}
