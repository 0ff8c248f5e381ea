package winops.peers

/** Count, mean, least and greatest of values from which the oldest may be removed.
  *
  * Each older value stores the aggregates of itself and all later older values; newer values are
  * only added up. Each value moves between the two halves once, so the costs of adding and
  * removing do not depend on the number of values. No value is subtracted from a sum, which would
  * lose precision.
  */
final class SlidingSummary {
  private var values = new Array[Double](SlidingSummary.InitialCapacity)
  private var sums, lows, highs = Array.emptyDoubleArray
  private var start, middle, end = 0
  private var newerSum = 0.0
  private var newerLow = Double.PositiveInfinity
  private var newerHigh = Double.NegativeInfinity

  /** The number of values. */
  def count: Int = end - start

  /** The value at an index; 0 is the oldest. */
  def apply(place: Int): Double = values(start + place)

  /** Removes all values. */
  def clear(): Unit = {
    start = 0
    middle = 0
    end = 0
    forgetNewer()
  }

  /** Adds the newest value. */
  def add(value: Double): Unit = {
    if (end == values.length) makeRoom()
    values(end) = value
    end += 1
    newerSum += value
    newerLow = math.min(newerLow, value)
    newerHigh = math.max(newerHigh, value)
  }

  /** Removes the oldest value. */
  def removeOldest(): Unit = {
    if (start == middle) summarizeFromNewest()
    start += 1
  }

  /** The mean of all values. */
  def mean: Double = (if (start < middle) sums(start) + newerSum else newerSum) / count

  /** The least value. */
  def low: Double = if (start < middle) math.min(lows(start), newerLow) else newerLow

  /** The greatest value. */
  def high: Double = if (start < middle) math.max(highs(start), newerHigh) else newerHigh

  private def summarizeFromNewest(): Unit = {
    if (sums.length < end) {
      sums = new Array(values.length)
      lows = new Array(values.length)
      highs = new Array(values.length)
    }
    var sum = 0.0
    var low = Double.PositiveInfinity
    var high = Double.NegativeInfinity
    var at = end - 1
    while (at >= start) {
      val value = values(at)
      sum += value
      low = math.min(low, value)
      high = math.max(high, value)
      sums(at) = sum
      lows(at) = low
      highs(at) = high
      at -= 1
    }
    middle = end
    forgetNewer()
  }

  private def forgetNewer(): Unit = {
    newerSum = 0.0
    newerLow = Double.PositiveInfinity
    newerHigh = Double.NegativeInfinity
  }

  private def makeRoom(): Unit = {
    val capacity = if (count > values.length / 2) 2 * values.length else values.length
    values = moved(values, capacity, end)
    if (sums.nonEmpty) {
      sums = moved(sums, capacity, middle)
      lows = moved(lows, capacity, middle)
      highs = moved(highs, capacity, middle)
    }
    middle -= start
    end -= start
    start = 0
  }

  private def moved(from: Array[Double], capacity: Int, until: Int): Array[Double] = {
    val to = if (capacity == from.length) from else new Array[Double](capacity)
    System.arraycopy(from, start, to, 0, until - start)
    to
  }
}

private object SlidingSummary {
  final val InitialCapacity = 256
}
