package winops.spark.state

import winops.storage.bytes.{ByteReader, ByteWriter, CorruptStateException}

/** The numbers of groups and buckets of a partition, in an entry of their own. The entry is read
  * on first use.
  *
  * @param entries
  *   the entries of the store
  * @param fixed
  *   the number of buckets of an empty store, if it does not grow with the data
  */
private[state] final class GroupTotals(entries: StoreEntries, val fixed: Option[Long]) {
  import GroupTotals._

  private var isRestored = false
  private var isChanged = false

  private var buckets0 = fixed.getOrElse(1L)
  private var inBuckets0 = 0L
  private var bytes0 = 0L
  private var inEntries0 = 0L
  private var placement0 = GroupPlacement.Initial

  /** The number of buckets. */
  def buckets: Long = {
    restore()
    buckets0
  }

  /** The number of groups in buckets. */
  def groupsInBuckets: Long = {
    restore()
    inBuckets0
  }

  /** The number of bytes in buckets. */
  def bytes: Long = {
    restore()
    bytes0
  }

  /** The number of groups whose values have entries of their own. */
  def groupsInEntries: Long = {
    restore()
    inEntries0
  }

  def placement: GroupPlacement = {
    restore()
    placement0
  }

  def setBuckets(number: Long): Unit = {
    restore()
    isChanged |= number != buckets0
    buckets0 = number
  }

  /** Adds to the number of groups in buckets, and to the number of their bytes. */
  def addInBuckets(groups: Long, bytes: Long): Unit = {
    restore()
    isChanged = true
    inBuckets0 += groups
    bytes0 += bytes
  }

  def addInEntries(groups: Long): Unit = {
    restore()
    isChanged = true
    inEntries0 += groups
  }

  def setPlacement(placement: GroupPlacement): Unit = {
    restore()
    isChanged |= placement != placement0
    placement0 = placement
  }

  /** Writes the numbers if they have changed. */
  def save(): Unit = if (isChanged) {
    val out = new ByteWriter
    out.number(buckets0)
    out.number(inBuckets0)
    out.number(bytes0)
    out.number(inEntries0)
    out.byte(if (placement0.inBuckets) 1 else 0)
    out.number(placement0.others.toLong)
    entries.put(0L, entries.noGroup, EntryNumbers.Totals, out.toArray)
    isChanged = false
  }

  private def restore(): Unit = if (!isRestored) {
    isRestored = true
    val stored = entries.get(0L, entries.noGroup, EntryNumbers.Totals)
    if (stored != null) {
      val in = new ByteReader(stored)
      buckets0 = in.count(MostBuckets)
      inBuckets0 = in.count(Long.MaxValue)
      bytes0 = in.count(Long.MaxValue)
      // Format 5 has buckets only.
      if (in.remaining > 0) {
        inEntries0 = in.count(Long.MaxValue)
        placement0 = GroupPlacement(in.byte() == 1, in.count(Byte.MaxValue.toLong).toInt)
      }
      in.finish()
      if (buckets0 == 0) throw new CorruptStateException("a partition has no buckets of groups")
    }
  }
}

private object GroupTotals {

  /** The maximum number of buckets, so that the total over all partitions fits a Long. */
  val MostBuckets: Long = 1L << 48
}
