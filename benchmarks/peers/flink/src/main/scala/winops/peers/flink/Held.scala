package winops.peers.flink

import org.apache.flink.api.common.functions.RuntimeContext
import org.apache.flink.api.common.state.{MapState, MapStateDescriptor, ValueState, ValueStateDescriptor}
import org.apache.flink.api.common.typeinfo.Types

/** The trades of the current key, in Flink's state. An added trade is stored without a copy. */
trait Held {

  /** Loads the current key. */
  def restore(): Unit

  /** Stores the current key. */
  def save(): Unit

  def size: Long
  def oldest: Trade
  def add(trade: Trade): Unit
  def removeOldest(): Trade
}

object Held {

  /** Creates the layout for a state backend. */
  type Layout = RuntimeContext => Held

  /** One object per key, changed in place: for the heap backend. */
  val inQueue: Layout = new HeldInQueue(_)

  /** An entry per trade, so that a step touches two entries, however many exist: for RocksDB. */
  val inMap: Layout = new HeldInMap(_)
}

private class HeldInQueue(context: RuntimeContext) extends Held {
  private val state: ValueState[TradeQueue] =
    context.getState(new ValueStateDescriptor("trades", Trade.infoOf[TradeQueue]))
  private var queue: TradeQueue = _

  override def restore(): Unit = {
    queue = state.value()
    if (queue == null) queue = new TradeQueue
  }

  override def save(): Unit = if (queue.size == 0) state.clear() else state.update(queue)

  override def size: Long = queue.size.toLong

  override def oldest: Trade = queue.oldest

  override def add(trade: Trade): Unit = queue.add(trade)

  override def removeOldest(): Trade = queue.removeOldest()
}

private class HeldInMap(context: RuntimeContext) extends Held {
  private val trades: MapState[java.lang.Long, Trade] =
    context.getMapState(new MapStateDescriptor("trades", Types.LONG, Trade.info))
  private val state: ValueState[Span] =
    context.getState(new ValueStateDescriptor("span", Trade.infoOf[Span]))
  private var span: Span = _

  override def restore(): Unit = {
    span = state.value()
    if (span == null) span = new Span
  }

  override def save(): Unit = if (size == 0) state.clear() else state.update(span)

  override def size: Long = span.next - span.first

  override def oldest: Trade = trades.get(span.first)

  override def add(trade: Trade): Unit = {
    trades.put(span.next, trade)
    span.next += 1
  }

  override def removeOldest(): Trade = {
    val trade = oldest
    trades.remove(span.first)
    span.first += 1
    trade
  }
}
