package winops.spark.testing

import scala.collection.mutable

import winops.storage.bytes.Segments

/** Segments on the heap that count their values and the bytes read. */
final class MapSegments extends Segments {
  private val kept = mutable.LongMap.empty[Array[Byte]]
  private var gets = 0
  private var bytes = 0L

  def numbers: Set[Long] = kept.keySet.toSet
  def timesRead: Int = gets
  def bytesRead: Long = bytes
  def bytesHeld: Long = kept.valuesIterator.map(_.length.toLong).sum

  override def get(number: Long): Array[Byte] = {
    gets += 1
    val found = kept.getOrNull(number)
    if (found != null) bytes += found.length
    found
  }

  override def put(number: Long, bytes: Array[Byte]): Unit = kept.update(number, bytes)
  override def remove(number: Long): Unit = kept.remove(number)
}
