package winops.spark.state

/** Stores the own values of groups in entries of a state store: in buckets that groups with
  * neighbouring hashes share, or in an entry for each group. The [[GroupPlacement]] of the
  * partition decides for each group that is written; reads find both.
  *
  * @param entries
  *   the entries of the store
  * @param fixed
  *   the number of buckets of an empty store; without it, the number grows with the data
  * @param inOrder
  *   true if groups are visited in the order of their hashes. If not, each of them would read and
  *   write a bucket, so groups that are written get entries of their own.
  */
private[spark] final class GroupValues(
    entries: StoreEntries,
    fixed: Option[Long] = None,
    inOrder: Boolean = true) {
  import GroupValues._
  import entries.keys

  private val totals = new GroupTotals(entries, fixed)
  private val buckets = new GroupBuckets(entries, totals)
  private val rows = new RowKeys(keys)

  private var changed = 0L

  // The place of the value that was read last.
  private var isInBucket = false
  private var hasEntry = false

  /** The number of buckets. */
  def numberOfBuckets: Long = totals.buckets

  /** The number of groups that have a value. */
  def size: Long = totals.groupsInBuckets + totals.groupsInEntries

  /** Returns the stored value of a group, or null if the group has none. */
  def get(hash: Long, key: Array[Byte]): Array[Byte] = {
    isInBucket = false
    hasEntry = false
    if (totals.placement.inBuckets) {
      val value = fromBucket(hash, key)
      if (value == null) fromEntry(hash, key) else value
    } else {
      val value = fromEntry(hash, key)
      if (value == null) fromBucket(hash, key) else value
    }
  }

  /** The place of the value of the group that was read last, for [[returnTo]]. */
  def place: Int = (if (isInBucket) InBucket else 0) | (if (hasEntry) InEntry else 0)

  /** Makes a group the one that was read last, again, after others were read and written.
    *
    * @param place
    *   the place of its value
    */
  def returnTo(place: Int): Unit = {
    isInBucket = (place & InBucket) != 0
    hasEntry = (place & InEntry) != 0
  }

  /** Sets the value of the group that was read last. The value has at least one byte. */
  def put(hash: Long, key: Array[Byte], value: Array[Byte]): Unit = {
    changed += 1
    putInto(inOrder && totals.placement.inBuckets, hash, key, value)
  }

  /** Removes the group that was read last. */
  def remove(hash: Long, key: Array[Byte]): Unit = {
    if (isInBucket || hasEntry) changed += 1
    if (isInBucket) buckets.remove(hash, key)
    if (hasEntry) removeEntry(hash, key)
    isInBucket = false
    hasEntry = false
  }

  /** Stores the value of a group that the store does not have, read from another store. */
  def enter(hash: Long, piece: GroupPiece): Unit = {
    isInBucket = false
    hasEntry = false
    putInto(piece.number == EntryNumbers.Bucket, hash, piece.key, piece.content)
  }

  /** Writes pending changes. The store lacks them until then. */
  def flush(): Unit = buckets.flush()

  /** Writes pending changes and decides on the placement in the next micro-batch. */
  def finish(): Unit = {
    buckets.finish()
    val (shared, own) = (totals.groupsInBuckets, totals.groupsInEntries)
    totals.setPlacement(
      if (fixed.isDefined) GroupPlacement(inBuckets = own <= shared, 0)
      else totals.placement.after(changed, shared + own))
    totals.save()
  }

  /** Iterates over all groups in the store with their values, without those in an unwritten
    * bucket.
    */
  def each: Iterator[GroupPiece] = entries.all.flatMap { entry =>
    entries.numberOf(entry.key) match {
      case EntryNumbers.Bucket =>
        buckets.groupsIn(entry.value.getBinary(0)).map { case (key, value) =>
          GroupPiece(key, EntryNumbers.Bucket, value)
        }
      case EntryNumbers.OwnValue =>
        val key = entries.groupOf(entry.key).copy().getBytes
        Iterator.single(GroupPiece(key, EntryNumbers.OwnValue, entry.value.getBinary(0)))
      case _ => Iterator.empty
    }
  }

  /** Iterates over the keys of all groups in the store, without those in an unwritten bucket. */
  def groups: Iterator[Array[Byte]] = entries.all.flatMap { entry =>
    entries.numberOf(entry.key) match {
      case EntryNumbers.Bucket => buckets.keysIn(entry.value.getBinary(0))
      case EntryNumbers.OwnValue => Iterator.single(entries.groupOf(entry.key).copy().getBytes)
      case _ => Iterator.empty
    }
  }

  private def fromBucket(hash: Long, key: Array[Byte]): Array[Byte] = {
    val value = if (totals.groupsInBuckets > 0) buckets.get(hash, key) else null
    isInBucket = value != null
    value
  }

  private def fromEntry(hash: Long, key: Array[Byte]): Array[Byte] = {
    val value =
      if (totals.groupsInEntries > 0) entries.get(hash, rows.groupOf(key), EntryNumbers.OwnValue)
      else null
    hasEntry = value != null
    value
  }

  private def putInto(bucket: Boolean, hash: Long, key: Array[Byte], value: Array[Byte]): Unit = {
    if (bucket) {
      if (hasEntry) removeEntry(hash, key)
      buckets.put(hash, key, value)
    } else {
      if (isInBucket) buckets.remove(hash, key)
      if (!hasEntry) totals.addInEntries(1)
      entries.put(hash, rows.groupOf(key), EntryNumbers.OwnValue, value)
    }
    isInBucket = bucket
    hasEntry = !bucket
  }

  private def removeEntry(hash: Long, key: Array[Byte]): Unit = {
    entries.remove(hash, rows.groupOf(key), EntryNumbers.OwnValue)
    totals.addInEntries(-1)
  }
}

private object GroupValues {

  // The places of the value of a group, as flags.
  val InBucket = 1
  val InEntry = 2
}
