package winops.spark.testing

import scala.collection.{Seq => AnySeq}

import org.apache.spark.sql.Row

/** The tolerance for doubles that were added in another order.
  *
  * @param magnitude
  *   the greatest absolute value of the addends
  */
final case class Closeness(magnitude: Double) {
  import Closeness.Tolerance

  def same(a: Any, b: Any): Boolean = (a, b) match {
    case (a: Double, b: Double) =>
      a == b || a.isNaN && b.isNaN ||
      !a.isInfinite && !b.isInfinite && Math.abs(a - b) <= Tolerance * scale(a, b)
    case (a: AnySeq[_], b: AnySeq[_]) =>
      a.size == b.size && a.zip(b).forall { case (x, y) => same(x, y) }
    case (a: Row, b: Row) => same(a.toSeq, b.toSeq)
    case _ => a == b
  }

  private def scale(a: Double, b: Double): Double =
    Math.max(magnitude, Math.max(Math.abs(a), Math.abs(b)))
}

object Closeness {
  val Tolerance = 1e-9

  /** The tolerance for values computed from these readings. */
  def of(readings: Iterable[Reading]): Closeness = {
    val finite = readings.flatMap(r => r.x ++ r.y).filter(_.isFinite).map(x => Math.abs(x))
    Closeness(finite.foldLeft(1.0)((a, b) => Math.max(a, b)))
  }
}
