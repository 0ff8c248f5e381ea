package winops.peers.flink

import org.apache.flink.api.common.typeinfo.TypeInformation
import org.apache.flink.api.java.typeutils.ValueTypeInfo
import org.apache.flink.core.memory.{DataInputView, DataOutputView}
import org.apache.flink.types.{CopyableValue, Value}

/** A row of the input with its own serialization, the fastest in Flink. */
final class Trade extends CopyableValue[Trade] {
  var key, seq, qty, micros = 0L
  var price = 0.0

  def set(key: Long, seq: Long, price: Double, qty: Long, micros: Long): Trade = {
    this.key = key
    this.seq = seq
    this.price = price
    this.qty = qty
    this.micros = micros
    this
  }

  override def write(out: DataOutputView): Unit = {
    out.writeLong(key)
    out.writeLong(seq)
    out.writeDouble(price)
    out.writeLong(qty)
    out.writeLong(micros)
  }

  override def read(in: DataInputView): Unit =
    set(in.readLong(), in.readLong(), in.readDouble(), in.readLong(), in.readLong())

  override def copyTo(other: Trade): Unit = other.set(key, seq, price, qty, micros)

  override def copy(): Trade = new Trade().set(key, seq, price, qty, micros)

  override def getBinaryLength: Int = Trade.BinaryLength

  override def copy(in: DataInputView, out: DataOutputView): Unit = out.write(in, getBinaryLength)
}

object Trade {
  private final val BinaryLength = 40

  val info: TypeInformation[Trade] = infoOf[Trade]

  /** The type information of a class with its own serialization. */
  def infoOf[A <: Value](implicit tag: reflect.ClassTag[A]): TypeInformation[A] =
    new ValueTypeInfo(tag.runtimeClass.asInstanceOf[Class[A]])
}
