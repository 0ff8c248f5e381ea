package winops.peers

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.{Column, DataFrame, Encoder, Encoders}
import org.apache.spark.sql.functions.{col, timestamp_micros, unix_micros, when}
import org.apache.spark.sql.streaming._

/** `transformWithState` with a `MapState` as a ring: an entry for each row of the window, under
  * the row's number modulo the length of the window.
  */
object RingPeer extends StreamPeer {
  private implicit val longEncoder: Encoder[Long] = Encoders.scalaLong
  private implicit val tradeEncoder: Encoder[MicrosTrade] = Encoders.product
  private implicit val changeEncoder: Encoder[MicrosChange] = Encoders.product

  override def rows(trades: DataFrame, rows: Int): DataFrame =
    trades
      .withColumn("micros", unix_micros(col("ts")))
      .groupBy("key")
      .as[Long, MicrosTrade]
      .transformWithState(new RowsInRing(rows), TimeMode.None(), OutputMode.Append())
      .toDF()
      .select(Columns: _*)

  override def time(trades: DataFrame, millis: Int): DataFrame =
    throw new UnsupportedOperationException("a ring has a fixed number of rows")

  override def aggregates(trades: DataFrame, rows: Int): DataFrame =
    throw new UnsupportedOperationException("a ring would read the whole window for each row")

  private val Columns: Seq[Column] = Seq(
    col("key"),
    col("seq"),
    col("price"),
    col("qty"),
    timestamp_micros(col("micros")).as("ts"),
    when(col("leaves"), "delete").otherwise("insert").as("kind"))
}

/** A row without its key, which is that of the entry. */
case class RingRow(seq: Long, price: Double, qty: Long, micros: Long)

private class RowsInRing(rows: Int) extends StatefulProcessor[Long, MicrosTrade, MicrosChange] {
  @transient private var next: ValueState[Long] = _
  @transient private var ring: MapState[Int, RingRow] = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    next = getHandle.getValueState("next", Encoders.scalaLong, TTLConfig.NONE)
    ring =
      getHandle.getMapState("ring", Encoders.scalaInt, Encoders.product[RingRow], TTLConfig.NONE)
  }

  override def handleInputRows(
      key: Long,
      arrived: Iterator[MicrosTrade],
      timers: TimerValues): Iterator[MicrosChange] = {
    val trades = PackedProcessor.inOrder(arrived)
    val changes = new ArrayBuffer[MicrosChange](2 * trades.length)
    val first = Option(next.get()).getOrElse(0L)
    trades.indices.foreach { i =>
      val trade = trades(i)
      val number = first + i
      val slot = (number % rows).toInt
      changes += MicrosChange.insert(trade)
      if (number >= rows) {
        val oldest = ring.getValue(slot)
        changes += MicrosChange(
          key,
          oldest.seq,
          oldest.price,
          oldest.qty,
          oldest.micros,
          leaves = true)
      }
      ring.updateValue(slot, RingRow(trade.seq, trade.price, trade.qty, trade.micros))
    }
    next.update(first + trades.length)
    changes.iterator
  }
}
