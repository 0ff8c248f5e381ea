package winops.peers.flink

import org.apache.flink.api.common.typeinfo.TypeInformation
import org.apache.flink.core.memory.{DataInputView, DataOutputView}
import org.apache.flink.types.Value

/** An inserted or deleted row, or an inserted row with its window's aggregates. */
final class Answer extends Value {
  val trade = new Trade
  var leaves = false
  var mean, low, high = 0.0

  def insert(from: Trade): Answer = {
    from.copyTo(trade)
    leaves = false
    this
  }

  def delete(from: Trade): Answer = {
    from.copyTo(trade)
    leaves = true
    this
  }

  def averaged(from: Trade, mean: Double, low: Double, high: Double): Answer = {
    this.mean = mean
    this.low = low
    this.high = high
    insert(from)
  }

  override def write(out: DataOutputView): Unit = {
    trade.write(out)
    out.writeBoolean(leaves)
    out.writeDouble(mean)
    out.writeDouble(low)
    out.writeDouble(high)
  }

  override def read(in: DataInputView): Unit = {
    trade.read(in)
    leaves = in.readBoolean()
    mean = in.readDouble()
    low = in.readDouble()
    high = in.readDouble()
  }
}

object Answer {
  val info: TypeInformation[Answer] = Trade.infoOf[Answer]
}
