package winops.log

import scala.collection.mutable

/** Where a [[RowLog]] keeps the runs of rows that it does not hold itself. */
trait Segments {

  /** The bytes of a segment, or null when none was put or it was removed. */
  def get(number: Long): Array[Byte]
  def put(number: Long, bytes: Array[Byte]): Unit
  def remove(number: Long): Unit
}

/** Segments that share their place with others, under numbers of their own from `first` on. */
final class ShiftedSegments(segments: Segments, first: Long) extends Segments {
  override def get(number: Long): Array[Byte] = segments.get(first + number)
  override def put(number: Long, bytes: Array[Byte]): Unit = segments.put(first + number, bytes)
  override def remove(number: Long): Unit = segments.remove(first + number)
}

/** Segments on the heap, for queries that keep no state. */
final class HeapSegments extends Segments {
  private val kept = mutable.LongMap.empty[Array[Byte]]

  override def get(number: Long): Array[Byte] = kept.getOrNull(number)
  override def put(number: Long, bytes: Array[Byte]): Unit = kept.update(number, bytes)
  override def remove(number: Long): Unit = kept.remove(number)
  def clear(): Unit = kept.clear()

  /** How many segments there are. */
  def size: Int = kept.size
}
