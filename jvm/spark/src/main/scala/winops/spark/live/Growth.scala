package winops.spark.live

/** A number that only grows.
  *
  * @param from
  *   the number after the first of the micro-batches
  * @param to
  *   the number after the last of them
  */
final case class Growth(from: Long, to: Long)

object Growth {

  /** The number of micro-batches that are compared. */
  val Batches: Int = WindowHistory.MaxSamples

  /** The number of last micro-batches of which one must have grown. A window that has filled up
    * does not grow any more.
    */
  val Recent = 10

  /** The least number of micro-batches that must have grown. */
  val LeastGrown = 10

  /** Applies the rule of the alert: [[Batches]] numbers are known; none is less than the one
    * before; at least [[LeastGrown]] are greater than the one before, and one of these is among
    * the last [[Recent]].
    */
  def of(numbers: Seq[Long]): Option[Growth] =
    Option.when(numbers.size >= Batches)(numbers.takeRight(Batches)).flatMap { last =>
      val steps = last.zip(last.tail).map { case (before, after) => after - before }
      val grows = steps.forall(_ >= 0) && steps.count(_ > 0) >= LeastGrown &&
        steps.takeRight(Recent).exists(_ > 0)
      Option.when(grows)(Growth(last.head, last.last))
    }
}
