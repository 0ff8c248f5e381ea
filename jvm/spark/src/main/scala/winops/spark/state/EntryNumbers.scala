package winops.spark.state

import winops.storage.rows.RowLog

/** The numbers in the keys of state entries. An entry without a group belongs to the partition if
  * its number is negative.
  */
private[spark] object EntryNumbers {

  /** A bucket of groups. Its hash is the bucket's, its group all nulls. */
  val Bucket = 0L

  /** The first segment of a group's window. */
  val FirstWindowSegment = 1L

  /** The first segment of a group's waiting rows. */
  val FirstWaitingSegment: Long = 1L << 62

  /** The value of a group that is in no bucket. The runs of the group's rows follow. */
  val OwnValue: Long = RowLog.FirstRun

  /** The value of a group that is too long for the group's bucket. */
  val LongValue: Long = Long.MaxValue

  /** The record of a group in the index of groups that depend on each other. */
  val Record: Long = Long.MaxValue - 1

  /** The numbers of groups and buckets of the partition. */
  val Totals: Long = Long.MinValue

  /** Returns true if an entry of a group is a value and not a segment. */
  def isValue(number: Long): Boolean = number == OwnValue || number == LongValue

  /** The hash in the key of an entry. Runs and values of groups in no bucket, of which each
    * micro-batch writes many, have its first two bytes only: the hash serves the order of the
    * entries, and the key has the group too.
    */
  def hashIn(number: Long, hash: Long): Long =
    if (number > 0 && number != LongValue && (number & RowLog.FirstRun) != 0) hash & FirstBytes
    else hash

  private val FirstBytes = -1L << 48
}
