package winops.peers

import java.util.{Arrays, Comparator}

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.{Encoder, Encoders}
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.streaming._

private abstract class PackedProcessor[A](width: Int, longest: Int)
    extends StatefulProcessor[Long, MicrosTrade, A] {
  @transient protected var queue: PackedQueue = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    val records: Encoder[Array[Long]] = ExpressionEncoder[Array[Long]]()
    queue = new PackedQueue(
      width,
      longest,
      getHandle.getValueState("newest", records, TTLConfig.NONE),
      getHandle.getMapState("chunks", Encoders.scalaLong, records, TTLConfig.NONE))
  }
}

private object PackedProcessor {
  private val bySeq: Comparator[MicrosTrade] = Comparator.comparingLong(_.seq)

  /** Sorts the rows, which arrive grouped by map task. */
  def inOrder(arrived: Iterator[MicrosTrade]): Array[MicrosTrade] = {
    val trades = arrived.toArray
    Arrays.sort(trades, bySeq)
    trades
  }
}

private abstract class PackedTrades(longest: Int)
    extends PackedProcessor[MicrosChange](PackedTrades.Width, longest) {

  protected def add(trade: MicrosTrade): MicrosChange = {
    import trade.{micros, price, qty, seq}
    val at = queue.add()
    val record = queue.newestIn
    record(at) = seq
    record(at + 1) = java.lang.Double.doubleToRawLongBits(price)
    record(at + 2) = qty
    record(at + 3) = micros
    MicrosChange.insert(trade)
  }

  protected def removeOldest(key: Long): MicrosChange = {
    val record = queue.oldestIn
    val at = queue.oldestAt
    queue.removeOldest()
    MicrosChange(
      key,
      record(at),
      java.lang.Double.longBitsToDouble(record(at + 1)),
      record(at + 2),
      record(at + 3),
      leaves = true)
  }

  protected def oldestMicros: Long = queue.oldestIn(queue.oldestAt + PackedTrades.MicrosPlace)
}

private object PackedTrades {
  final val Width = 4
  final val MicrosPlace = 3
}

private class PackedRows(rows: Int) extends PackedTrades(rows) {

  override def handleInputRows(
      key: Long,
      arrived: Iterator[MicrosTrade],
      timers: TimerValues): Iterator[MicrosChange] = {
    val trades = PackedProcessor.inOrder(arrived)
    val changes = new ArrayBuffer[MicrosChange](2 * trades.length)
    queue.restore()
    trades.foreach { trade =>
      changes += add(trade)
      if (queue.size > rows) changes += removeOldest(key)
    }
    queue.save()
    changes.iterator
  }
}

private class PackedMillis(millis: Int) extends PackedTrades(longest = 0) {
  private val keptMicros = millis * 1000L

  override def handleInputRows(
      key: Long,
      arrived: Iterator[MicrosTrade],
      timers: TimerValues): Iterator[MicrosChange] = {
    val trades = PackedProcessor.inOrder(arrived)
    val changes = new ArrayBuffer[MicrosChange](2 * trades.length)
    val isWaiting = queue.restore()
    trades.foreach { trade =>
      removeExpired(key, trade.micros, changes)
      changes += add(trade)
    }
    if (!isWaiting) waitForOldest()
    queue.save()
    changes.iterator
  }

  override def handleExpiredTimer(
      key: Long,
      timers: TimerValues,
      expired: ExpiredTimerInfo): Iterator[MicrosChange] = {
    val changes = new ArrayBuffer[MicrosChange]
    queue.restore()
    removeExpired(key, timers.getCurrentWatermarkInMs() * 1000, changes)
    if (!queue.isEmpty) waitForOldest()
    queue.save()
    changes.iterator
  }

  private def removeExpired(key: Long, now: Long, changes: ArrayBuffer[MicrosChange]): Unit =
    while (!queue.isEmpty && oldestMicros + keptMicros <= now) changes += removeOldest(key)

  /** The clock has whole milliseconds. */
  private def waitForOldest(): Unit =
    getHandle.registerTimer(Math.floorDiv(oldestMicros + keptMicros + 999, 1000L))
}

private class PackedPrices(rows: Int)
    extends PackedProcessor[MicrosAveraged](width = 1, longest = rows) {
  @transient private lazy val prices = new SlidingSummary

  override def handleInputRows(
      key: Long,
      arrived: Iterator[MicrosTrade],
      timers: TimerValues): Iterator[MicrosAveraged] = {
    val trades = PackedProcessor.inOrder(arrived)
    queue.restore()
    prices.clear()
    queue.foreach((held, at) => prices.add(java.lang.Double.longBitsToDouble(held(at))))
    val out = trades.map { trade =>
      val at = queue.add()
      queue.newestIn(at) = java.lang.Double.doubleToRawLongBits(trade.price)
      prices.add(trade.price)
      if (prices.count > rows) {
        prices.removeOldest()
        queue.removeOldest()
      }
      MicrosAveraged(
        key,
        trade.seq,
        trade.price,
        trade.qty,
        trade.micros,
        prices.mean,
        prices.low,
        prices.high)
    }
    queue.save()
    out.iterator
  }
}
