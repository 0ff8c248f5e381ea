package winops.peers.flink

import org.apache.flink.api.common.functions.OpenContext
import org.apache.flink.api.common.state.{MapState, MapStateDescriptor, ValueState, ValueStateDescriptor}
import org.apache.flink.api.common.typeinfo.Types
import org.apache.flink.streaming.api.functions.KeyedProcessFunction
import org.apache.flink.util.Collector

/** The last rows of each key, in an object that is changed in place: for the heap backend. */
final class LastRows(rows: Int) extends KeyedProcessFunction[java.lang.Long, Trade, Answer] {
  @transient private var held: Held = _
  @transient private lazy val answer = new Answer

  override def open(context: OpenContext): Unit = held = Held.inQueue(getRuntimeContext)

  override def processElement(
      trade: Trade,
      context: KeyedProcessFunction[java.lang.Long, Trade, Answer]#Context,
      out: Collector[Answer]): Unit = {
    held.restore()
    held.add(trade)
    out.collect(answer.insert(trade))
    if (held.size > rows) out.collect(answer.delete(held.removeOldest()))
    held.save()
  }
}

/** The last rows of each key, in reused slots: RocksDB deletes no entry. */
final class LastRowsInPlaces(rows: Int)
    extends KeyedProcessFunction[java.lang.Long, Trade, Answer] {
  @transient private var places: MapState[Integer, Trade] = _
  @transient private var arrived: ValueState[java.lang.Long] = _
  @transient private lazy val answer = new Answer

  override def open(context: OpenContext): Unit = {
    val runtime = getRuntimeContext
    places = runtime.getMapState(new MapStateDescriptor("places", Types.INT, Trade.info))
    arrived = runtime.getState(new ValueStateDescriptor("arrived", Types.LONG))
  }

  override def processElement(
      trade: Trade,
      context: KeyedProcessFunction[java.lang.Long, Trade, Answer]#Context,
      out: Collector[Answer]): Unit = {
    val stored = arrived.value()
    val before = if (stored == null) 0L else stored.longValue
    val place = (before % rows).toInt
    out.collect(answer.insert(trade))
    if (before >= rows) out.collect(answer.delete(places.get(place)))
    places.put(place, trade)
    arrived.update(before + 1)
  }
}

/** The rows of the last milliseconds of each key. */
final class LastMillis(millis: Int, layout: Held.Layout)
    extends KeyedProcessFunction[java.lang.Long, Trade, Answer] {
  private val keptMicros = millis * 1000L
  @transient private var held: Held = _
  @transient private lazy val answer = new Answer

  override def open(context: OpenContext): Unit = held = layout(getRuntimeContext)

  override def processElement(
      trade: Trade,
      context: KeyedProcessFunction[java.lang.Long, Trade, Answer]#Context,
      out: Collector[Answer]): Unit = {
    held.restore()
    val isWaiting = held.size > 0
    removeExpired(trade.micros, out)
    held.add(trade)
    out.collect(answer.insert(trade))
    if (!isWaiting) context.timerService.registerEventTimeTimer(dueMillis)
    held.save()
  }

  override def onTimer(
      millis: Long,
      context: KeyedProcessFunction[java.lang.Long, Trade, Answer]#OnTimerContext,
      out: Collector[Answer]): Unit = {
    held.restore()
    removeExpired(context.timerService.currentWatermark * 1000, out)
    if (held.size > 0) context.timerService.registerEventTimeTimer(dueMillis)
    held.save()
  }

  private def removeExpired(now: Long, out: Collector[Answer]): Unit =
    while (held.size > 0 && held.oldest.micros + keptMicros <= now)
      out.collect(answer.delete(held.removeOldest()))

  /** The clock has whole milliseconds. */
  private def dueMillis: Long = Math.floorDiv(held.oldest.micros + keptMicros + 999, 1000L)
}

/** Mean, least and greatest price of the last rows of each key, at each row. */
final class LastRowsAveraged(rows: Int)
    extends KeyedProcessFunction[java.lang.Long, Trade, Answer] {
  @transient private var state: ValueState[Prices] = _
  @transient private lazy val answer = new Answer

  override def open(context: OpenContext): Unit =
    state = getRuntimeContext.getState(new ValueStateDescriptor("prices", Trade.infoOf[Prices]))

  override def processElement(
      trade: Trade,
      context: KeyedProcessFunction[java.lang.Long, Trade, Answer]#Context,
      out: Collector[Answer]): Unit = {
    val stored = state.value()
    val prices = if (stored == null) new Prices else stored
    val summary = prices.summary
    summary.add(trade.price)
    if (summary.count > rows) summary.removeOldest()
    state.update(prices)
    out.collect(answer.averaged(trade, summary.mean, summary.low, summary.high))
  }
}
