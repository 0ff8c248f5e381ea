package winops.peers

import org.apache.spark.sql.{Column, DataFrame, Encoder, Encoders}
import org.apache.spark.sql.functions.{col, timestamp_micros, unix_micros, when}
import org.apache.spark.sql.streaming.{OutputMode, StatefulProcessor, TimeMode}

/** A [[Trade]] with its time as a number, which avoids an object. */
case class MicrosTrade(key: Long, seq: Long, price: Double, qty: Long, micros: Long)

/** An inserted or deleted row, of numbers only. */
case class MicrosChange(
    key: Long,
    seq: Long,
    price: Double,
    qty: Long,
    micros: Long,
    leaves: Boolean)

object MicrosChange {
  def insert(trade: MicrosTrade): MicrosChange =
    MicrosChange(trade.key, trade.seq, trade.price, trade.qty, trade.micros, leaves = false)
}

/** A row with its window's aggregates, of numbers only. */
case class MicrosAveraged(
    key: Long,
    seq: Long,
    price: Double,
    qty: Long,
    micros: Long,
    mean: Double,
    low: Double,
    high: Double)

/** `transformWithState` with the layout of a [[PackedQueue]]. */
object PackedPeer extends StreamPeer {
  private implicit val longEncoder: Encoder[Long] = Encoders.scalaLong
  private implicit val tradeEncoder: Encoder[MicrosTrade] = Encoders.product
  private implicit val changeEncoder: Encoder[MicrosChange] = Encoders.product
  private implicit val averagedEncoder: Encoder[MicrosAveraged] = Encoders.product

  override def rows(trades: DataFrame, rows: Int): DataFrame =
    withKind(run(trades, new PackedRows(rows), TimeMode.None()))

  override def time(trades: DataFrame, millis: Int): DataFrame =
    withKind(
      run(
        trades.withWatermark("ts", "0 seconds"),
        new PackedMillis(millis),
        TimeMode.EventTime()))

  override def aggregates(trades: DataFrame, rows: Int): DataFrame =
    withTime(
      run(trades, new PackedPrices(rows), TimeMode.None()),
      Seq(col("mean"), col("low"), col("high")))

  // Unlike a function, a grouping column creates no object per row before the shuffle.
  private def run[A: Encoder](
      trades: DataFrame,
      processor: StatefulProcessor[Long, MicrosTrade, A],
      timeMode: TimeMode): DataFrame =
    trades
      .withColumn("micros", unix_micros(col("ts")))
      .groupBy("key")
      .as[Long, MicrosTrade]
      .transformWithState(processor, timeMode, OutputMode.Append())
      .toDF()

  private def withKind(changes: DataFrame): DataFrame =
    withTime(changes, Seq(when(col("leaves"), "delete").otherwise("insert").as("kind")))

  private def withTime(out: DataFrame, more: Seq[Column]): DataFrame =
    out.select(
      Seq("key", "seq", "price", "qty").map(col) ++
        (timestamp_micros(col("micros")).as("ts") +: more): _*)
}
