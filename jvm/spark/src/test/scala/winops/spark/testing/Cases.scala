package winops.spark.testing

import org.scalactic.anyvals.PosInt

/** The number of random cases of a property, by which its test is named. */
final case class Cases(number: Int) {
  val count: PosInt = PosInt.ensuringValid(number)

  override def toString: String = s"$number cases"
}
