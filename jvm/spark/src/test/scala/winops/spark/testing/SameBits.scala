package winops.spark.testing

import scala.collection.{Seq => AnySeq}

import org.apache.spark.sql.Row

/** Equality that compares floating-point numbers bit by bit: 0.0 differs from -0.0. */
object SameBits {
  def same(a: Any, b: Any): Boolean = (a, b) match {
    case (a: Double, b: Double) =>
      java.lang.Double.doubleToLongBits(a) == java.lang.Double.doubleToLongBits(b)
    case (a: Float, b: Float) =>
      java.lang.Float.floatToIntBits(a) == java.lang.Float.floatToIntBits(b)
    case (a: AnySeq[_], b: AnySeq[_]) =>
      a.size == b.size && a.zip(b).forall { case (x, y) => same(x, y) }
    case (a: Row, b: Row) => same(a.toSeq, b.toSeq)
    case _ => a == b
  }
}
