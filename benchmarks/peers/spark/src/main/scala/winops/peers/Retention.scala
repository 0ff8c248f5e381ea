package winops.peers

import java.time.Instant
import java.util.{Arrays, Comparator}

import scala.collection.mutable.ArrayBuffer

/** The output of a step, and the rows held after it. */
case class Step[A](out: Iterator[A], held: Array[Trade])

/** The windows over the trades of a key in plain arrays. */
object Retention {
  private val bySeq: Comparator[Trade] = Comparator.comparingLong(_.seq)

  /** Sorts the rows, which arrive grouped by map task. */
  def inOrder(arrived: Iterator[Trade]): Array[Trade] = {
    val trades = arrived.toArray
    Arrays.sort(trades, bySeq)
    trades
  }

  def lastRows(held: Array[Trade], arrived: Array[Trade], rows: Int): Step[Change] = {
    val all = held ++ arrived
    val changes = all.indices.iterator.drop(held.length).flatMap { place =>
      val insert = Iterator.single(Change.insert(all(place)))
      if (place < rows) insert else insert ++ Iterator.single(Change.delete(all(place - rows)))
    }
    Step(changes, all.takeRight(rows))
  }

  def lastMillis(held: Array[Trade], arrived: Array[Trade], millis: Int): Step[Change] = {
    val all = held ++ arrived
    val changes = new ArrayBuffer[Change](2 * arrived.length)
    var oldest = 0
    arrived.foreach { trade =>
      while (!expiry(all(oldest), millis).isAfter(trade.ts)) {
        changes += Change.delete(all(oldest))
        oldest += 1
      }
      changes += Change.insert(trade)
    }
    Step(changes.iterator, all.drop(oldest))
  }

  def expired(held: Array[Trade], millis: Int, now: Instant): Step[Change] = {
    val (old, young) = held.span(!expiry(_, millis).isAfter(now))
    Step(old.iterator.map(Change.delete), young)
  }

  /** The first whole millisecond at which the trade has expired, because clocks have no finer
    * ticks.
    */
  def expiryMillis(oldest: Trade, millis: Int): Long =
    expiry(oldest, millis).plusNanos(999999).toEpochMilli

  def averaged(held: Array[Trade], arrived: Array[Trade], rows: Int): Step[Averaged] = {
    val prices = new SlidingSummary
    held.foreach(trade => prices.add(trade.price))
    val out = arrived.map { trade =>
      prices.add(trade.price)
      if (prices.count > rows) prices.removeOldest()
      import trade.{key, price, qty, seq, ts}
      Averaged(key, seq, price, qty, ts, prices.mean, prices.low, prices.high)
    }
    Step(out.iterator, (held ++ arrived).takeRight(rows))
  }

  private def expiry(trade: Trade, millis: Int): Instant = trade.ts.plusMillis(millis.toLong)
}
