package winops.storage.rows

/** The numbers of rows of the runs of a [[RowLog]]. A run begins at a row number that is a
  * multiple of its length, so a row's number leads to its run.
  */
private[rows] object RunLengths {

  /** The length of the runs of a group with many rows in each micro-batch. */
  val Longest: Int = RowLog.LongestRun

  /** The length up to which runs may be read again for each of their rows. A window is often
    * filled by many rows at once, and then evicts its rows one by one.
    */
  val LongestFilled: Int = 16

  /** Returns the length of new runs: as many rows as the group gets in two micro-batches.
    *
    * @param appended
    *   the number of rows appended in this micro-batch
    * @param released
    *   the number of rows released in this micro-batch
    */
  def of(appended: Long, released: Long): Int = {
    val most = Math.max(LongestFilled, powerOfTwo(2 * released))
    Math.max(RowLog.ShortestRun, Math.min(powerOfTwo(2 * appended), most))
  }

  /** Returns the length of a run that begins at `from`, at most `longest`. */
  def at(from: Long, longest: Int): Int =
    if (from == 0) longest
    else {
      val aligned = Math.min(java.lang.Long.lowestOneBit(from), Longest.toLong).toInt
      Math.max(RowLog.ShortestRun, Math.min(aligned, longest))
    }

  /** The next power of two, at most [[Longest]]. */
  private def powerOfTwo(number: Long): Int =
    if (number >= Longest) Longest
    else if (number <= 1) 1
    else Integer.highestOneBit(number.toInt - 1) << 1
}
