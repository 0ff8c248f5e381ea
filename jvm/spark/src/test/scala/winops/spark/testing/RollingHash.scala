package winops.spark.testing

import org.apache.spark.sql.{Encoder, Encoders}
import org.apache.spark.sql.expressions.Aggregator

/** The hash of so many numbers that `power` is 31 to that power. */
final case class Rolled(hash: Long, power: Long)

/** A user's function that tells whether numbers came in their order, and which can put the hash
  * of a sequence together from those of its parts.
  */
object RollingHash extends Aggregator[Long, Rolled, Long] {
  override def zero: Rolled = Rolled(0, 1)

  override def reduce(front: Rolled, number: Long): Rolled =
    Rolled(front.hash * 31 + number, front.power * 31)

  override def merge(front: Rolled, behind: Rolled): Rolled =
    Rolled(front.hash * behind.power + behind.hash, front.power * behind.power)

  override def finish(all: Rolled): Long = all.hash
  override def bufferEncoder: Encoder[Rolled] = Encoders.product
  override def outputEncoder: Encoder[Long] = Encoders.scalaLong
}
