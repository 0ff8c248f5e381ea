package winops.peers.flink

import org.apache.flink.core.memory.{DataInputView, DataOutputView}
import org.apache.flink.types.CopyableValue

/** Trades in a growing ring buffer, for a state backend that holds objects. */
final class TradeQueue extends CopyableValue[TradeQueue] {
  private var trades = new Array[Trade](TradeQueue.InitialCapacity)
  private var first = 0
  private var count = 0

  def size: Int = count

  def oldest: Trade = trades(first)

  def add(trade: Trade): Unit = {
    if (count == trades.length) grow()
    trades((first + count) & (trades.length - 1)) = trade
    count += 1
  }

  def removeOldest(): Trade = {
    val trade = trades(first)
    trades(first) = null
    first = (first + 1) & (trades.length - 1)
    count -= 1
    trade
  }

  private def foreach(visit: Trade => Unit): Unit =
    for (place <- 0 until count) visit(trades((first + place) & (trades.length - 1)))

  private def grow(): Unit = {
    val larger = new Array[Trade](2 * trades.length)
    System.arraycopy(trades, first, larger, 0, count - first)
    System.arraycopy(trades, 0, larger, count - first, first)
    trades = larger
    first = 0
  }

  override def write(out: DataOutputView): Unit = {
    out.writeInt(count)
    foreach(_.write(out))
  }

  override def read(in: DataInputView): Unit = {
    first = 0
    count = 0
    for (_ <- 0 until in.readInt()) {
      val trade = new Trade
      trade.read(in)
      add(trade)
    }
  }

  /** Copies only the queue, because trades never change. */
  override def copyTo(other: TradeQueue): Unit = {
    other.trades = trades.clone()
    other.first = first
    other.count = count
  }

  override def copy(): TradeQueue = {
    val other = new TradeQueue
    copyTo(other)
    other
  }

  override def getBinaryLength: Int = -1

  override def copy(in: DataInputView, out: DataOutputView): Unit = {
    val count = in.readInt()
    out.writeInt(count)
    out.write(in, count * new Trade().getBinaryLength)
  }
}

private object TradeQueue {
  // A power of two, as are all later capacities.
  final val InitialCapacity = 16
}
