package winops.peers

import java.time.Instant

import org.apache.spark.sql.{DataFrame, Encoder, Encoders}
import org.apache.spark.sql.streaming._

/** `transformWithState` over a typed Dataset with a `ListState`, as in Spark's guide. */
object ListStatePeer extends StreamPeer {
  private implicit val longEncoder: Encoder[Long] = Encoders.scalaLong
  private implicit val tradeEncoder: Encoder[Trade] = Encoders.product
  private implicit val changeEncoder: Encoder[Change] = Encoders.product
  private implicit val averagedEncoder: Encoder[Averaged] = Encoders.product

  override def rows(trades: DataFrame, rows: Int): DataFrame =
    run(trades, new HeldInList(Retention.lastRows(_, _, rows)), TimeMode.None())

  override def time(trades: DataFrame, millis: Int): DataFrame =
    run(
      trades.withWatermark("ts", "0 seconds"),
      new HeldInListForMillis(millis),
      TimeMode.EventTime())

  override def aggregates(trades: DataFrame, rows: Int): DataFrame =
    run(trades, new HeldInList(Retention.averaged(_, _, rows)), TimeMode.None())

  private def run[A: Encoder](
      trades: DataFrame,
      processor: StatefulProcessor[Long, Trade, A],
      timeMode: TimeMode): DataFrame =
    trades
      .as[Trade]
      .groupByKey(_.key)
      .transformWithState(processor, timeMode, OutputMode.Append())
      .toDF()
}

private class HeldInList[A](step: (Array[Trade], Array[Trade]) => Step[A])
    extends StatefulProcessor[Long, Trade, A] {
  @transient protected var trades: ListState[Trade] = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit =
    trades = getHandle.getListState("trades", Encoders.product[Trade], TTLConfig.NONE)

  override def handleInputRows(
      key: Long,
      rows: Iterator[Trade],
      timers: TimerValues): Iterator[A] =
    take(step(trades.get().toArray, Retention.inOrder(rows)))

  protected def take(step: Step[A]): Iterator[A] = {
    if (step.held.isEmpty) trades.clear() else trades.put(step.held)
    step.out
  }
}

private class HeldInListForMillis(millis: Int)
    extends HeldInList[Change](Retention.lastMillis(_, _, millis)) {

  override def handleInputRows(
      key: Long,
      rows: Iterator[Trade],
      timers: TimerValues): Iterator[Change] = {
    val isWaiting = trades.exists()
    val step = Retention.lastMillis(trades.get().toArray, Retention.inOrder(rows), millis)
    if (!isWaiting) waitForOldest(step)
    take(step)
  }

  override def handleExpiredTimer(
      key: Long,
      timers: TimerValues,
      expired: ExpiredTimerInfo): Iterator[Change] = {
    val now = Instant.ofEpochMilli(timers.getCurrentWatermarkInMs())
    val step = Retention.expired(trades.get().toArray, millis, now)
    if (step.held.nonEmpty) waitForOldest(step)
    take(step)
  }

  private def waitForOldest(step: Step[Change]): Unit =
    getHandle.registerTimer(Retention.expiryMillis(step.held.head, millis))
}
