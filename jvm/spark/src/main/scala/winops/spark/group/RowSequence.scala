package winops.spark.group

/** Neighbouring rows of a [[WaitingLog]] that are in the order of their release.
  *
  * @param head
  *   ordinal of the first row that waits
  * @param end
  *   ordinal behind the last row
  * @param next
  *   time of the first row in microseconds, or the beginning of its millisecond
  */
private[group] final class RowSequence(var head: Long, var end: Long, var next: Long) {

  /** The number of waiting rows. */
  def size: Long = end - head
}
