package winops.peers

import java.time.Instant

/** A row of the input. */
case class Trade(key: Long, seq: Long, price: Double, qty: Long, ts: Instant)

/** An inserted or deleted row. */
case class Change(key: Long, seq: Long, price: Double, qty: Long, ts: Instant, kind: String)

object Change {
  def insert(trade: Trade): Change = of(trade, "insert")

  def delete(trade: Trade): Change = of(trade, "delete")

  private def of(trade: Trade, kind: String): Change =
    Change(trade.key, trade.seq, trade.price, trade.qty, trade.ts, kind)
}

/** A row of the input with its window's aggregates. */
case class Averaged(
    key: Long,
    seq: Long,
    price: Double,
    qty: Long,
    ts: Instant,
    mean: Double,
    low: Double,
    high: Double)
