package winops.storage.bytes

import scala.collection.mutable

/** Stores segments on the heap, for queries without a state store. */
final class HeapSegments extends Segments {
  private val kept = mutable.LongMap.empty[Array[Byte]]

  override def get(number: Long): Array[Byte] = kept.getOrNull(number)
  override def put(number: Long, bytes: Array[Byte]): Unit = kept.update(number, bytes)
  override def remove(number: Long): Unit = kept.remove(number)
  def clear(): Unit = kept.clear()

  /** Number of bytes of all segments. */
  def bytes: Long = kept.valuesIterator.map(_.length.toLong).sum

  /** Number of segments. */
  def size: Int = kept.size
}
