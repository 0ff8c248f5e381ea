package winops.terms

/** The largest distance between two values that a rule allows. */
sealed trait Distance

object Distance {

  /** An exact distance between whole numbers, or between timestamps in microseconds. */
  final case class Whole(value: Long) extends Distance

  /** A distance between floating-point numbers. */
  final case class Real(value: Double) extends Distance
}
