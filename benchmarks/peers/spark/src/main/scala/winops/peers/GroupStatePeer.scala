package winops.peers

import java.time.Instant

import org.apache.spark.sql.{DataFrame, Encoder, Encoders}
import org.apache.spark.sql.streaming.{GroupState, GroupStateTimeout, OutputMode}

/** The state of `flatMapGroupsWithState`. */
case class HeldTrades(trades: Array[Trade])

/** `flatMapGroupsWithState` over a typed Dataset, with an array of rows as state. */
object GroupStatePeer extends StreamPeer {
  private type Take[A] = (Long, Iterator[Trade], GroupState[HeldTrades]) => Iterator[A]

  private implicit val longEncoder: Encoder[Long] = Encoders.scalaLong
  private implicit val tradeEncoder: Encoder[Trade] = Encoders.product
  private implicit val heldEncoder: Encoder[HeldTrades] = Encoders.product
  private implicit val changeEncoder: Encoder[Change] = Encoders.product
  private implicit val averagedEncoder: Encoder[Averaged] = Encoders.product

  override def rows(trades: DataFrame, rows: Int): DataFrame =
    run[Change](trades, GroupStateTimeout.NoTimeout) { (_, arrived, state) =>
      advance(state, arrived)(Retention.lastRows(_, _, rows))
    }

  override def aggregates(trades: DataFrame, rows: Int): DataFrame =
    run[Averaged](trades, GroupStateTimeout.NoTimeout) { (_, arrived, state) =>
      advance(state, arrived)(Retention.averaged(_, _, rows))
    }

  override def time(trades: DataFrame, millis: Int): DataFrame =
    run[Change](trades.withWatermark("ts", "0 seconds"), GroupStateTimeout.EventTimeTimeout) {
      (_, arrived, state) =>
        val changes =
          if (state.hasTimedOut) {
            val now = Instant.ofEpochMilli(state.getCurrentWatermarkMs())
            take(state, Retention.expired(state.get.trades, millis, now))
          } else advance(state, arrived)(Retention.lastMillis(_, _, millis))
        // A timer fires when the watermark is past its time, but a row expires at its time.
        state.getOption.foreach { held =>
          state.setTimeoutTimestamp(Retention.expiryMillis(held.trades.head, millis) - 1)
        }
        changes
    }

  private def run[A: Encoder](trades: DataFrame, timeout: GroupStateTimeout)(
      take: Take[A]): DataFrame =
    trades
      .as[Trade]
      .groupByKey(_.key)
      .flatMapGroupsWithState(OutputMode.Append(), timeout)(take)
      .toDF()

  private def advance[A](state: GroupState[HeldTrades], arrived: Iterator[Trade])(
      step: (Array[Trade], Array[Trade]) => Step[A]): Iterator[A] =
    take(
      state,
      step(state.getOption.fold(Array.empty[Trade])(_.trades), Retention.inOrder(arrived)))

  private def take[A](state: GroupState[HeldTrades], step: Step[A]): Iterator[A] = {
    if (step.held.isEmpty) state.remove() else state.update(HeldTrades(step.held))
    step.out
  }
}
