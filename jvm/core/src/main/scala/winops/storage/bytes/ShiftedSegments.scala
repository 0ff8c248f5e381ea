package winops.storage.bytes

/** Segments that share their place with others, under numbers of their own from `first` on. */
final class ShiftedSegments(segments: Segments, first: Long) extends Segments {
  override def get(number: Long): Array[Byte] = segments.get(first + number)
  override def put(number: Long, bytes: Array[Byte]): Unit = segments.put(first + number, bytes)
  override def remove(number: Long): Unit = segments.remove(first + number)
}
