package winops.spark.state

/** Decides whether groups share buckets or have entries of their own.
  *
  * A bucket that is written has the values of all of its groups, so buckets suit micro-batches
  * that change most groups of a partition. The decision changes after two micro-batches in a row
  * that suit the other kind of entry; groups are moved when they are changed.
  *
  * @param inBuckets
  *   true if groups are written into buckets
  * @param others
  *   the number of the last micro-batches that suit the other kind of entry
  */
private[state] final case class GroupPlacement(inBuckets: Boolean, others: Int) {
  import GroupPlacement._

  /** The placement after a micro-batch that changed `changed` of `groups` groups. */
  def after(changed: Long, groups: Long): GroupPlacement =
    if (changed == 0) this
    else {
      val suitsOther =
        if (inBuckets) changed < groups * LeastInBuckets else changed > groups * MostInEntries
      if (!suitsOther) GroupPlacement(inBuckets, 0)
      else if (others + 1 < Batches) GroupPlacement(inBuckets, others + 1)
      else GroupPlacement(!inBuckets, 0)
    }
}

private[state] object GroupPlacement {

  /** The placement of the groups of a new partition. */
  val Initial: GroupPlacement = GroupPlacement(inBuckets = true, 0)

  private val LeastInBuckets = 0.9
  private val MostInEntries = 0.97
  private val Batches = 2
}
