package winops.spark.testing

import scala.collection.{Seq => AnySeq}

import org.apache.spark.sql.Row

/** The tolerance for doubles that were added in another order.
  *
  * @param magnitude
  *   the greatest absolute value of the addends, or None if the values are not rounded
  */
final case class Closeness(magnitude: Option[Double]) {
  import Closeness.Tolerance

  def same(a: Any, b: Any): Boolean = (a, b) match {
    case (a: Double, b: Double) =>
      a == b || a.isNaN && b.isNaN ||
      !a.isInfinite && !b.isInfinite && magnitude.exists(Math.abs(a - b) <= Tolerance * _)
    case (a: AnySeq[_], b: AnySeq[_]) =>
      a.size == b.size && a.zip(b).forall { case (x, y) => same(x, y) }
    case (a: Row, b: Row) => same(a.toSeq, b.toSeq)
    case _ => a == b
  }
}

object Closeness {
  val Tolerance = 1e-9

  /** Moments that have no unit, and stay near 1 whatever the values are. */
  private val Scaleless = "(corr|skewness|kurtosis)\\(.*".r

  /** Functions that add doubles of one column, and the deviation from such a value. */
  private val Adding = "(?:\\w+ - )?(sum|avg|stddev|var_pop)\\((x|y)\\).*".r

  /** The tolerance for the values of a function over these readings. */
  def of(function: String, readings: Iterable[Reading]): Closeness = Closeness(function match {
    case Scaleless(_) => Some(1.0)
    case Adding(name, column) =>
      val values = readings.flatMap(r => if (column == "x") r.x else r.y)
      val sizes = values.filter(_.isFinite).map(x => Math.abs(x))
      val greatest = sizes.maxOption.getOrElse(0.0)
      Some(name match {
        case "sum" => sizes.sum
        case "var_pop" => greatest * greatest
        case _ => greatest
      })
    case _ => None
  })
}
