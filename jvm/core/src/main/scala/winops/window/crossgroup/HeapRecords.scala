package winops.window.crossgroup

import java.nio.ByteBuffer

import scala.collection.mutable

/** Stores the values of groups on the heap, for queries without a state store. */
final class HeapRecords extends GroupRecords {
  private val kept = mutable.HashMap.empty[ByteBuffer, Array[Byte]]

  override def get(key: Array[Byte]): Array[Byte] = kept.getOrElse(ByteBuffer.wrap(key), null)

  override def put(key: Array[Byte], value: Array[Byte]): Unit =
    kept.update(ByteBuffer.wrap(key), value)

  override def remove(key: Array[Byte]): Unit = {
    val _ = kept.remove(ByteBuffer.wrap(key))
  }

  /** Number of values. */
  def size: Int = kept.size
}
