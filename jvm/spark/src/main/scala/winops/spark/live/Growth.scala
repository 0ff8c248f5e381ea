package winops.spark.live

/** A number that only grows.
  *
  * @param from
  *   the number after the first of the micro-batches
  * @param to
  *   the number after the last of them
  * @param batches
  *   the number of micro-batches
  */
final case class Growth(from: Long, to: Long, batches: Int) {

  /** The growth from a micro-batch to the next one, on average. */
  def slope: Long = Math.max(1, Math.round((to - from).toDouble / (batches - 1)))

  /** Returns true if the window may still be filling up. */
  def isEarly: Boolean = batches < Growth.Batches
}

object Growth {

  /** The number of micro-batches that are compared at most. */
  val Batches: Int = WindowHistory.MaxSamples

  /** The number of micro-batches from which on steady growth is an alert. */
  val LeastBatches = 20

  /** The number of last micro-batches of which one must have grown. A window that has filled up
    * does not grow any more.
    */
  val Recent = 10

  /** The least number of micro-batches that must have grown. */
  val LeastGrown = 10

  /** The least slope of the last micro-batches, as a part of the slope of the first ones, before
    * [[Batches]] numbers are known. A window that fills up grows ever more slowly.
    */
  val Steady = 0.5

  /** Applies the rule of the alert to the last [[Batches]] numbers, of which [[LeastBatches]] are
    * known: none is less than the one before; at least [[LeastGrown]] are greater than the one
    * before, and one of these is among the last [[Recent]]. As long as fewer than [[Batches]] are
    * known, the slope of the second half is also at least [[Steady]] of that of the first half.
    */
  def of(numbers: Seq[Long]): Option[Growth] = {
    val last = numbers.takeRight(Batches)
    Option.when(
      last.size >= LeastBatches && growsOnly(last) && (last.size == Batches || isSteady(last)))(
      Growth(last.head, last.last, last.size))
  }

  private def growsOnly(numbers: Seq[Long]): Boolean = {
    val steps = numbers.zip(numbers.tail).map { case (before, after) => after - before }
    steps.forall(_ >= 0) && steps.count(_ > 0) >= LeastGrown &&
    steps.takeRight(Recent).exists(_ > 0)
  }

  private def isSteady(numbers: Seq[Long]): Boolean = {
    val half = numbers.size / 2
    val middle = numbers.size - 1 - half
    numbers.last - numbers(middle) >= Steady * (numbers(half) - numbers.head)
  }
}
