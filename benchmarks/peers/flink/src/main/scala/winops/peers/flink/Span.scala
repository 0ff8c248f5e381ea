package winops.peers.flink

import org.apache.flink.core.memory.{DataInputView, DataOutputView}
import org.apache.flink.types.Value

/** The numbers of the oldest trade and of the next one. */
final class Span extends Value {
  var first, next = 0L

  override def write(out: DataOutputView): Unit = {
    out.writeLong(first)
    out.writeLong(next)
  }

  override def read(in: DataInputView): Unit = {
    first = in.readLong()
    next = in.readLong()
  }
}
