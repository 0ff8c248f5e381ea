package winops.aggregation

import scala.util.Random

import winops.storage.bytes.{ByteReader, ByteWriter}

/** The sum and the maximum of random numbers, one per row. Adding a row is as cheap as possible,
  * so that benchmarks measure the combination of summaries.
  */
final class SumAndMax extends Summaries[Array[Long]] {
  import SumAndMax._

  private val values = {
    val random = new Random(Seed)
    Array.fill(Values)(random.nextInt(10000).toLong)
  }

  override def create(): Array[Long] = Array(0L, Long.MinValue)

  override def clear(summary: Array[Long]): Unit = {
    summary(Sum) = 0L
    summary(Max) = Long.MinValue
  }

  override def add(summary: Array[Long], row: Long): Unit = {
    val value = values((row % Values).toInt)
    summary(Sum) += value
    summary(Max) = Math.max(summary(Max), value)
  }

  override def append(summary: Array[Long], behind: Array[Long]): Unit = {
    summary(Sum) += behind(Sum)
    summary(Max) = Math.max(summary(Max), behind(Max))
  }

  override def write(summary: Array[Long], out: ByteWriter): Unit = summary.foreach(out.number)

  override def read(summary: Array[Long], in: ByteReader): Unit = {
    summary(Sum) = in.number()
    summary(Max) = in.number()
  }
}

private object SumAndMax {
  val Sum = 0
  val Max = 1
  val Values: Int = 1 << 12
  val Seed = 1L
}
