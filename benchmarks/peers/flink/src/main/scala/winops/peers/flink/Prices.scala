package winops.peers.flink

import org.apache.flink.core.memory.{DataInputView, DataOutputView}
import org.apache.flink.types.CopyableValue

import winops.peers.SlidingSummary

/** The prices in a window; deserialization recomputes their aggregates. */
final class Prices extends CopyableValue[Prices] {
  val summary = new SlidingSummary

  override def write(out: DataOutputView): Unit = {
    out.writeInt(summary.count)
    for (place <- 0 until summary.count) out.writeDouble(summary(place))
  }

  override def read(in: DataInputView): Unit = {
    summary.clear()
    for (_ <- 0 until in.readInt()) summary.add(in.readDouble())
  }

  override def copyTo(other: Prices): Unit = {
    other.summary.clear()
    for (place <- 0 until summary.count) other.summary.add(summary(place))
  }

  override def copy(): Prices = {
    val other = new Prices
    copyTo(other)
    other
  }

  override def getBinaryLength: Int = -1

  override def copy(in: DataInputView, out: DataOutputView): Unit = {
    val count = in.readInt()
    out.writeInt(count)
    out.write(in, count * java.lang.Double.BYTES)
  }
}
