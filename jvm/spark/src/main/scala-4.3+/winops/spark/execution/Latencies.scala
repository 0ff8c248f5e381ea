package winops.spark.execution

/** Counts times in microseconds in classes whose widths grow with the times, so that a percentile
  * is at most an eighth too great.
  */
final class Latencies extends Serializable {
  import Latencies._

  private val counts = new Array[Long](Classes)
  private var total = 0L

  def isEmpty: Boolean = total == 0

  /** Counts a time in microseconds. */
  def add(micros: Long): Unit = {
    counts(classAt(Math.min(Math.max(micros, 0L), Greatest))) += 1
    total += 1
  }

  /** Adds the counts of others. */
  def add(others: Latencies): Unit = {
    counts.indices.foreach(i => counts(i) += others.counts(i))
    total += others.total
  }

  def clear(): Unit = {
    java.util.Arrays.fill(counts, 0L)
    total = 0L
  }

  /** The time in microseconds below which this share of all times is; 0 without times.
    *
    * @param share
    *   a number from 0 to 1, such as 0.99
    */
  def percentile(share: Double): Long = if (isEmpty) 0L
  else {
    val rank = Math.max(1L, Math.ceil(total * share).toLong)
    var seen = 0L
    var i = -1
    while (seen < rank) {
      i += 1
      seen += counts(i)
    }
    greatestOf(i)
  }
}

private object Latencies {

  /** Times below this number have a class each. */
  private val Single = 16

  /** The number of classes for each doubling of the time. */
  private val PerDoubling = 8

  private val Greatest = (1L << 40) - 1
  private val Classes = Single + PerDoubling * 36

  private def classAt(micros: Long): Int =
    if (micros < Single) micros.toInt
    else {
      val shift = java.lang.Long.SIZE - 4 - java.lang.Long.numberOfLeadingZeros(micros)
      Single + PerDoubling * (shift - 1) + (micros >> shift).toInt - PerDoubling
    }

  /** The greatest time of a class. */
  private def greatestOf(number: Int): Long =
    if (number < Single) number.toLong
    else {
      val (doubling, part) = ((number - Single) / PerDoubling, (number - Single) % PerDoubling)
      ((PerDoubling + part + 1L) << doubling + 1) - 1
    }
}
