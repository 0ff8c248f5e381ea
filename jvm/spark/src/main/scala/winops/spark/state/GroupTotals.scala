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

  private var numberOfBuckets = fixed.getOrElse(1L)
  private var sharing = 0L
  private var bytesShared = 0L
  private var separate = 0L
  private var decided = GroupPlacement.Initial

  /** The number of buckets. */
  def buckets: Long = {
    restore()
    numberOfBuckets
  }

  /** The number of groups in buckets. */
  def groupsInBuckets: Long = {
    restore()
    sharing
  }

  /** The number of bytes in buckets. */
  def bytes: Long = {
    restore()
    bytesShared
  }

  /** The number of groups whose values have entries of their own. */
  def groupsInEntries: Long = {
    restore()
    separate
  }

  def placement: GroupPlacement = {
    restore()
    decided
  }

  def setBuckets(number: Long): Unit = {
    restore()
    isChanged |= number != numberOfBuckets
    numberOfBuckets = number
  }

  /** Adds to the number of groups in buckets, and to the number of their bytes. */
  def addInBuckets(groups: Long, bytes: Long): Unit = {
    restore()
    isChanged = true
    sharing += groups
    bytesShared += bytes
  }

  def addInEntries(groups: Long): Unit = {
    restore()
    isChanged = true
    separate += groups
  }

  def setPlacement(placement: GroupPlacement): Unit = {
    restore()
    isChanged |= placement != decided
    decided = placement
  }

  /** Writes the numbers if they have changed. */
  def save(): Unit = if (isChanged) {
    val out = new ByteWriter
    out.number(numberOfBuckets)
    out.number(sharing)
    out.number(bytesShared)
    out.number(separate)
    out.byte(if (decided.inBuckets) 1 else 0)
    out.number(decided.others.toLong)
    entries.put(0L, entries.noGroup, EntryNumbers.Totals, out.toArray)
    isChanged = false
  }

  private def restore(): Unit = if (!isRestored) {
    val stored = entries.get(0L, entries.noGroup, EntryNumbers.Totals)
    if (stored != null) {
      val in = new ByteReader(stored)
      numberOfBuckets = in.count(MostBuckets)
      sharing = in.count(Long.MaxValue)
      bytesShared = in.count(Long.MaxValue)
      separate = in.count(Long.MaxValue)
      decided = GroupPlacement(in.byte() == 1, in.count(Byte.MaxValue.toLong).toInt)
      in.finish()
      if (numberOfBuckets == 0) {
        throw new CorruptStateException("a partition has no buckets of groups")
      }
    }
    isRestored = true
  }
}

private object GroupTotals {

  /** The maximum number of buckets, so that the total over all partitions fits a Long. */
  val MostBuckets: Long = 1L << 48
}
