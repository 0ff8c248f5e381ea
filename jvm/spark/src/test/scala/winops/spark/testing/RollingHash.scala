package winops.spark.testing

import org.apache.spark.sql.{Encoder, Encoders}
import org.apache.spark.sql.expressions.Aggregator

/** The hash of a sequence of numbers; `power` is 31 to the power of its length. */
final case class Rolled(hash: Long, power: Long)

/** A user-defined aggregate that detects another order of numbers and can merge the hashes of
  * parts of a sequence.
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
