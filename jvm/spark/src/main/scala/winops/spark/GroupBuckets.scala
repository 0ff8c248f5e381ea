package winops.spark

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{Attribute, GenericInternalRow, UnsafeRow}

import winops.log.{Bucket, ByteReader, ByteWriter, CorruptStateException, LinearHashing}

/** The own values of groups in the entries of a store, those with neighbouring hashes in one
  * entry: what a store asks for an entry is more than what it asks for some hundred bytes.
  *
  * One bucket is open at a time. Groups that come in the order of their hashes cost a read and a
  * write for each bucket; others are found as well.
  *
  * @param fixed
  *   how many buckets there are; otherwise it is as many as are good, more and more
  */
private[spark] final class GroupBuckets(
    entries: StoreEntries,
    keys: Seq[Attribute],
    fixed: Option[Long] = None) {
  import GroupBuckets._

  private val hashOf = KeyHash(keys, keys)
  private val keyShape = RowShape.of(keys)
  private val noGroup = new GenericInternalRow(keys.size)

  private var hashing = LinearHashing(fixed.getOrElse(1L))
  private var groups = 0L
  private var bytes = 0L
  private var totalsChanged = false

  private val bucket = new Bucket
  private val saved = new ByteWriter
  private var start = 0L
  private var isOpen = false
  private var isChanged = false
  private var lengthBefore = 0

  restoreTotals(entries.get(0L, noGroup, TotalsNumber))

  /** How many buckets there are. */
  def size: Long = hashing.buckets

  /** What is stored of a group; null if it has no value. */
  def get(hash: Long, key: Array[Byte]): Array[Byte] = {
    open(hash)
    bucket.get(key)
  }

  def put(hash: Long, key: Array[Byte], value: Array[Byte]): Unit = {
    open(hash)
    isChanged = true
    if (bucket.put(key, value)) {
      groups += 1
      if (bucket.size >= CrowdedGroups && hashing.buckets <= groups / 2) growTo(groups)
    }
  }

  /** Removes a group that has a value. */
  def remove(hash: Long, key: Array[Byte]): Unit = {
    open(hash)
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
    val enough = Math.min(bytes / BucketBytes, groups * MaxBucketsPerGroup)
    if (enough > hashing.buckets) growTo(enough)
    if (totalsChanged) {
      saved.clear()
      saved.number(hashing.buckets)
      saved.number(groups)
      saved.number(bytes)
      entries.put(0L, noGroup, TotalsNumber, saved.toArray)
      totalsChanged = false
    }
  }

  /** The groups of what is written, each with its value. */
  def each: Iterator[(UnsafeRow, Array[Byte])] = entries.all
    .filter(entry => entries.numberOf(entry.key) == BucketNumber)
    .flatMap { entry =>
      val in = new Bucket
      in.restore(new ByteReader(entry.value.getBinary(0)))
      val found = mutable.ArrayBuffer.empty[(UnsafeRow, Array[Byte])]
      in.foreach((key, value) => found += rowOf(key) -> value)
      found
    }

  private def open(hash: Long): Unit = {
    val at = hashing.bucketOf(hash)
    if (!isOpen || at != start) {
      flush()
      lengthBefore = read(at)
      start = at
      isOpen = true
    }
  }

  /** Makes the bucket what is stored of it; how many bytes that are. */
  private def read(at: Long): Int = {
    val stored = entries.get(at, noGroup, BucketNumber)
    if (stored == null) {
      bucket.clear()
      0
    } else {
      bucket.restore(new ByteReader(stored))
      stored.length
    }
  }

  private def write(at: Long, written: Bucket, lengthBefore: Int): Unit = {
    bytes -= lengthBefore
    totalsChanged = true
    if (!written.isEmpty) {
      saved.clear()
      written.save(saved)
      val value = saved.toArray
      bytes += value.length
      entries.put(at, noGroup, BucketNumber, value)
    } else if (lengthBefore > 0) entries.remove(at, noGroup, BucketNumber)
  }

  /** Divides buckets, until there are this many. */
  private def growTo(buckets: Long): Unit = if (fixed.isEmpty) {
    flush()
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
      if (hashing.bucketOf(hash) != at) {
        throw new CorruptStateException("a group is among those with other hashes")
      }
      val _ = divided.getOrElseUpdate(more.bucketOf(hash), new Bucket).put(key, value)
    }
    divided.foreach { case (to, part) => write(to, part, if (to == at) length else 0) }
  }

  private def rowOf(key: Array[Byte]): UnsafeRow = {
    val row = new UnsafeRow(keys.size)
    keyShape.pointTo(row, key)
    row
  }

  private def restoreTotals(stored: Array[Byte]): Unit = if (stored != null) {
    val in = new ByteReader(stored)
    val buckets = in.count(Long.MaxValue)
    groups = in.count(Long.MaxValue)
    bytes = in.count(Long.MaxValue)
    in.finish()
    if (buckets == 0) throw new CorruptStateException("a partition has no buckets of groups")
    hashing = LinearHashing(buckets)
  }
}

private[spark] object GroupBuckets {

  /** Of an entry that is a bucket; its hash is the bucket's, its group is a row of nulls. */
  val BucketNumber = 0L

  /** Of the entry that says how many buckets, groups and bytes there are. */
  private val TotalsNumber = Long.MinValue

  /** How long buckets are on average. A batch that touches few groups reads and writes so much
    * with each of them.
    */
  private val BucketBytes = 1L << 10

  /** So many groups in one bucket are more than chance makes of the usual length: they have come
    * since there are so many buckets.
    */
  private val CrowdedGroups = 256

  /** Groups with long values should be alone, and further buckets are empty. */
  private val MaxBucketsPerGroup = 4L
}
