package winops.storage.buckets

/** Estimates how much more a partition will hold that is filled with groups in the unsigned order
  * of their hashes. Hashes are spread evenly, so the part of them that has passed is the part of
  * the groups that have been stored.
  *
  * @param isEmpty
  *   true if the partition has no groups before
  */
final class FillingInOrder(isEmpty: Boolean) {
  import FillingInOrder._

  private var isInOrder = isEmpty
  private var last = 0L

  /** Notes that the next group has this hash. */
  def reach(hash: Long): Unit = {
    isInOrder &&= java.lang.Long.compareUnsigned(last, hash) <= 0
    last = hash
  }

  /** The estimated number of all groups of the partition, divided by the number of those that are
    * stored; 1 if there is no estimate.
    *
    * @param groups
    *   the number of groups that are stored
    */
  def factor(groups: Long): Double =
    if (isInOrder && groups >= LeastGroups) Math.min(1 / partUntil(last), MaxFactor) else 1.0

  /** The part of all hashes that are at most `hash`. */
  private def partUntil(hash: Long): Double = ((hash >>> 1) + 1.0) / Half
}

private object FillingInOrder {

  /** The number of groups from which the factor is wrong by a tenth at most, in most cases. */
  val LeastGroups = 256L

  /** The maximum of the factor. Someone who chooses group keys may choose keys with small hashes.
    */
  val MaxFactor = 4096.0

  private val Half = -Long.MinValue.toDouble
}
