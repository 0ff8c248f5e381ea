package winops.spark.state

import scala.collection.mutable

import winops.storage.buckets.{Bucket, FillingInOrder, LinearHashing}
import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}

/** Stores the own values of groups in entries of a state store. Groups with neighbouring hashes
  * share an entry, called a bucket, because a store's cost per entry exceeds its cost for a few
  * hundred bytes.
  *
  * One bucket is open at a time. Groups visited in the order of their hashes cost one read and
  * one write per bucket; groups in any other order work too, but cost more. A value that would
  * make its bucket too long has an entry of its own. Entries are read on first use.
  *
  * @param entries
  *   the entries of the store
  * @param totals
  *   the numbers of groups and buckets
  */
private[state] final class GroupBuckets(entries: StoreEntries, totals: GroupTotals) {
  import GroupBuckets._
  import entries.{hashOf, keys, noGroup}

  private val rows = new RowKeys(keys)

  private var hashing: LinearHashing = _
  private var bucketsBefore = 0L
  private var bytesWritten = 0L
  private var filling: FillingInOrder = _

  private val bucket = new Bucket
  private val saved = new ByteWriter
  private var start = 0L
  private var isOpen = false
  private var isChanged = false
  private var lengthBefore = 0

  /** Returns the stored value of a group, or null if the group has none. */
  def get(hash: Long, key: Array[Byte]): Array[Byte] = {
    open(hash)
    valueOf(hash, key, bucket.get(key))
  }

  /** Sets the value of a group. The value has at least one byte. */
  def put(hash: Long, key: Array[Byte], value: Array[Byte]): Unit = {
    open(hash)
    val before = bucket.get(key)
    if (before == null) totals.addInBuckets(1, 0)
    growFor(hash, value)
    val lengthThere = if (before == null) 0 else before.length
    if (bucket.bytes - lengthThere + value.length <= MaxBytes) {
      if (isElsewhere(before)) removeElsewhere(hash, key)
      change(key, value)
    } else {
      if (!isElsewhere(before)) change(key, Elsewhere)
      entries.put(hash, rows.groupOf(key), EntryNumbers.LongValue, value)
    }
  }

  /** Removes a group. The group must have a value. */
  def remove(hash: Long, key: Array[Byte]): Unit = {
    open(hash)
    if (isElsewhere(bucket.get(key))) removeElsewhere(hash, key)
    bucket.remove(key)
    totals.addInBuckets(-1, 0)
    isChanged = true
  }

  /** Writes the open bucket if it has changed, and closes it. The store lacks its changes until
    * then.
    */
  def flush(): Unit = {
    if (isChanged) write(start, bucket, lengthBefore)
    isChanged = false
    isOpen = false
  }

  /** Writes the open bucket and divides buckets, so that the next micro-batch finds enough of
    * them.
    */
  def finish(): Unit = {
    flush()
    if (bytesWritten > 0) growTo(goodSize(0))
  }

  /** Returns the keys and values of the groups in a stored bucket. */
  def groupsIn(stored: Array[Byte]): Iterator[(Array[Byte], Array[Byte])] = {
    val in = new Bucket
    in.restore(new ByteReader(stored))
    val found = mutable.ArrayBuffer.empty[(Array[Byte], Array[Byte])]
    in.foreach((key, value) => found += key -> valueOf(hashOf(rows.groupOf(key)), key, value))
    found.iterator
  }

  /** Returns the keys of the groups in a stored bucket. */
  def keysIn(stored: Array[Byte]): Iterator[Array[Byte]] = {
    val in = new Bucket
    in.restore(new ByteReader(stored))
    val found = mutable.ArrayBuffer.empty[Array[Byte]]
    in.foreach((key, _) => found += key)
    found.iterator
  }

  private def open(hash: Long): Unit = {
    begin()
    filling.reach(hash)
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
      val value = entries.get(hash, rows.groupOf(key), EntryNumbers.LongValue)
      if (value == null) throw new CorruptStateException("the value of a group is missing")
      value
    }

  private def isElsewhere(inBucket: Array[Byte]): Boolean =
    inBucket != null && inBucket.length == 0

  private def removeElsewhere(hash: Long, key: Array[Byte]): Unit =
    entries.remove(hash, rows.groupOf(key), EntryNumbers.LongValue)

  /** Reads the bucket from the store and returns its length in bytes, 0 if it is empty. */
  private def read(at: Long): Int = {
    val stored = entries.get(at, noGroup, EntryNumbers.Bucket)
    if (stored == null) {
      bucket.clear()
      0
    } else {
      bucket.restore(new ByteReader(stored))
      if (!bucket.isEmpty) checkIsIn(at, hashOf(rows.groupOf(bucket.firstKey)))
      stored.length
    }
  }

  private def checkIsIn(at: Long, hash: Long): Unit =
    if (hashing.bucketOf(hash) != at) {
      throw new CorruptStateException("a group is among those with other hashes")
    }

  private def write(at: Long, written: Bucket, lengthBefore: Int): Unit = {
    totals.addInBuckets(0, -lengthBefore.toLong)
    if (!written.isEmpty) {
      saved.clear()
      written.save(saved)
      val value = saved.toArray
      totals.addInBuckets(0, value.length.toLong)
      bytesWritten += value.length
      entries.put(at, noGroup, EntryNumbers.Bucket, value)
    } else if (lengthBefore > 0) entries.remove(at, noGroup, EntryNumbers.Bucket)
  }

  /** The desired number of buckets for the bytes written and `more` bytes. A micro-batch adds at
    * most as many buckets as it has written bytes for, so that wrong stored totals do no harm.
    */
  private def goodSize(more: Long): Long = Math.min(
    Math.min((totals.bytes + more) / BucketBytes, totals.groupsInBuckets * MaxBucketsPerGroup),
    bucketsBefore + (bytesWritten + more) / BucketBytes)

  /** Divides the buckets early if the open one is crowded by the groups of this micro-batch: for
    * all groups of a partition that is filled in order, so that they are written once.
    */
  private def growFor(hash: Long, value: Array[Byte]): Unit =
    if (bucket.bytes + value.length > CrowdedBytes && totals.fixed.isEmpty) {
      val more = bucket.bytes + value.length - lengthBefore
      if (goodSize(more) >= 2 * hashing.buckets) {
        flush()
        growTo((goodSize(0) * filling.factor(totals.groupsInBuckets)).toLong)
        open(hash)
      }
    }

  /** Divides buckets until their number is `buckets`. Does nothing if the number is fixed. */
  private def growTo(buckets: Long): Unit =
    if (buckets > hashing.buckets && totals.fixed.isEmpty) {
      val more = LinearHashing(buckets)
      hashing.dividedIn(more).foreach { at =>
        val length = read(at)
        if (!bucket.isEmpty) divide(at, length, more)
      }
      hashing = more
      totals.setBuckets(buckets)
    }

  private def divide(at: Long, length: Int, more: LinearHashing): Unit = {
    val divided = mutable.LongMap(at -> new Bucket)
    bucket.foreach { (key, value) =>
      val hash = hashOf(rows.groupOf(key))
      checkIsIn(at, hash)
      val _ = divided.getOrElseUpdate(more.bucketOf(hash), new Bucket).put(key, value)
    }
    divided.foreach { case (to, part) => write(to, part, if (to == at) length else 0) }
  }

  private def begin(): Unit = if (hashing == null) {
    hashing = LinearHashing(totals.buckets)
    bucketsBefore = totals.buckets
    filling = new FillingInOrder(isEmpty = totals.groupsInBuckets == 0)
  }
}

private object GroupBuckets {

  /** The mark in a bucket of a value that has an entry of its own. */
  val Elsewhere: Array[Byte] = Array.emptyByteArray

  /** The average length of a bucket in bytes. A micro-batch with few groups reads and writes
    * about this much for each of them.
    */
  val BucketBytes: Long = 1L << 10

  /** The length in bytes that a bucket with short values does not reach by chance. */
  val CrowdedBytes: Long = 16L << 10

  /** The maximum length of a bucket's values in bytes. Someone who chooses group keys may choose
    * keys with neighbouring hashes, which no number of buckets separates.
    */
  val MaxBytes: Long = 1L << 20

  /** The maximum number of buckets per group. Groups with long values get a bucket each; further
    * buckets would be empty.
    */
  val MaxBucketsPerGroup = 4L
}
