package winops.policy

/** How far apart two values may be. */
sealed trait Distance

object Distance {

  /** Between whole numbers, or timestamps in microseconds: exact. */
  final case class Whole(value: Long) extends Distance

  /** Between floating-point numbers. */
  final case class Real(value: Double) extends Distance
}
