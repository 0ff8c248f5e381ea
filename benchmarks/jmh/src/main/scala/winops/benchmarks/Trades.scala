package winops.benchmarks

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.unsafe.types.UTF8String

import winops.spark.testing.KeepPlans

/** Generates trades as rows of [[winops.spark.testing.KeepPlans]]: one per second, each symbol
  * equally often, with the price in cents.
  *
  * @param symbols
  *   the number of symbols
  * @param noise
  *   the maximum deviation of a price from its trend, in cents. The trend rises by ten cents a
  *   trade, so that a window of the highest prices keeps accepting rows, at any position.
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

  /** The time of the last trade in milliseconds. */
  def instant: Long = FirstMillis + number * MillisPerTrade

  /** Returns the next trade, valid until the next call. */
  def next(): UnsafeRow = {
    number += 1
    val row = rows((number % rows.length).toInt)
    row.setLong(Trades.Time, instant * 1000)
    row.setLong(Trades.Price, number * CentsPerTrade + deviations((number % Deviations).toInt))
    row
  }
}

object Trades {

  /** The ordinals of the columns. */
  val Symbol = 0
  val Time = 1
  val Price = 2

  /** The number of trades after which all symbols have been traded equally often. */
  def round(symbols: Int): Int = Rounds * symbols

  val CentsPerTrade = 10L

  private val Rounds = 4
  private val Deviations = 1 << 12
  private val FirstMillis = 1357000000000L
  private val MillisPerTrade = 1000L
  private val Seed = 20130101L
}
