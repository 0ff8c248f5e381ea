package winops.benchmarks

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.testing.KeepPlans

/** Trades without end, as Spark's rows of [[winops.spark.testing.KeepPlans]]: one a second, each symbol
  * as often as any other, the price in cents.
  *
  * @param noise
  *   how far a price may be from its trend, in cents. The trend rises by ten cents a trade, so
  *   that a window of the highest prices goes on taking rows in, at any place.
  */
final class Trades(symbols: Int, noise: Int) {
  import Trades._

  private val random = new Random(Seed)
  private val rows: Array[UnsafeRow] = {
    val project = UnsafeProjection.create(KeepPlans.content.map(_.dataType).toArray)
    val symbolOf = random.shuffle(Vector.tabulate(Rounds * symbols)(_ % symbols))
    symbolOf.map { symbol =>
      val name = UTF8String.fromString(s"SYM$symbol")
      project(InternalRow(symbol.toLong, 0L, 0L, name)).copy()
    }.toArray
  }
  private val deviations = Array.fill(Deviations)(random.nextInt(noise).toLong)
  private var number = 0L

  /** When the trade that came last took place, in milliseconds. */
  def instant: Long = FirstMillis + number * MillisPerTrade

  /** The next trade, until the one after it. */
  def next(): UnsafeRow = {
    number += 1
    val row = rows((number % rows.length).toInt)
    row.setLong(Trades.Time, instant * 1000)
    row.setLong(Trades.Price, number * CentsPerTrade + deviations((number % Deviations).toInt))
    row
  }
}

object Trades {

  /** The places of the columns. */
  val Symbol = 0
  val Time = 1
  val Price = 2

  /** How many trades there are before each symbol has been traded as often as any other. */
  def round(symbols: Int): Int = Rounds * symbols

  val CentsPerTrade = 10L

  private val Rounds = 4
  private val Deviations = 1 << 12
  private val FirstMillis = 1357000000000L
  private val MillisPerTrade = 1000L
  private val Seed = 20130101L
}
