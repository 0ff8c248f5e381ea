package winops.spark.testing

import scala.util.Random

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{col, timestamp_micros}

/** An input row of aggregates: `k` is its group, `n` its index among all rows. No two finite `z`
  * are equal, because Spark's `corr` divides by zero if all values are equal.
  */
final case class Reading(
    k: Long,
    micros: Long,
    n: Long,
    text: Option[String],
    i: Option[Int],
    x: Option[Double],
    y: Option[Double],
    z: Option[Double],
    amount: Option[BigDecimal])

object Readings {

  /** The maximum delay of a row's time behind that of an earlier row. */
  val Disorder: String = "1 second"

  private val Start = 1000000000L

  /** A row of a separate group that advances time beyond all timers. */
  def heartbeat(n: Long): Reading =
    Reading(-1, Start + 20000000L, n, None, None, None, None, None, None)

  /** Cuts rows into up to three micro-batches. */
  def batches(random: Random, rows: Seq[Reading]): Seq[Seq[Reading]] = {
    val cuts = Seq.fill(2)(random.nextInt(rows.size + 1)).distinct.sorted
    (0 +: cuts)
      .zip(cuts :+ rows.size)
      .map { case (from, until) => rows.slice(from, until) }
      .filter(_.nonEmpty)
  }

  /** The columns of a frame of [[Reading]]s for queries. */
  def columns(df: DataFrame): DataFrame = df
    .withColumn("ts", timestamp_micros(col("micros")))
    .withColumn("amount", col("amount").cast("decimal(16, 4)"))
    .drop("micros")

  /** Rows in order of arrival, of as many groups as `counts` has elements; each group has its own
    * kind of values.
    */
  def random(random: Random, counts: Seq[Int]): Vector[Reading] = {
    val drawn = counts.zipWithIndex.flatMap { case (count, k) => group(random, k.toLong, count) }
    val arrived = drawn.sortBy { case (arrival, _) => arrival }
    arrived.zipWithIndex.map { case ((_, reading), n) => reading.copy(n = n.toLong) }.toVector
  }

  private def group(random: Random, k: Long, count: Int): Seq[(Long, Reading)] = {
    val gap = Seq(1, 700, 150000)(random.nextInt(3))
    val (doubles, others) = (anyDoubles(random), anyDoubles(random))
    var arrival = Start
    Vector.fill(count) {
      arrival += random.nextInt(gap)
      val reading = Reading(
        k,
        arrival + random.nextInt(3 * gap),
        0,
        orNull(random)(('a' + random.nextInt(4)).toChar.toString),
        orNull(random)(random.nextInt(7) - 3),
        orNull(random)(doubles()),
        orNull(random)(others()),
        orNull(random)(if (random.nextInt(20) == 0) Double.NaN else random.nextGaussian()),
        orNull(random)(BigDecimal(random.nextInt(2000) - 1000) / 16))
      arrival -> reading
    }
  }

  private def orNull[A](random: Random)(value: => A): Option[A] =
    Option.when(random.nextInt(6) > 0)(value)

  private def anyDoubles(random: Random): () => Double = random.nextInt(5) match {
    case 0 => () => random.nextGaussian()
    case 1 => () => random.nextGaussian() * Math.pow(10, random.nextInt(18).toDouble)
    case 2 => () => 0.1
    case 3 => pick(random, Seq(0.0, -0.0, 1.5, -1.5))
    case _ => pick(random, Seq(Double.NaN, 1e16, 1.0, Double.NegativeInfinity, 0.3, -1e16, 7.0))
  }

  private def pick(random: Random, values: Seq[Double]): () => Double =
    () => values(random.nextInt(values.size))
}
