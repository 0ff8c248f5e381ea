package winops.storage.bytes

/** Stores segments in another store, which other segments share, with numbers from `first` on. */
final class ShiftedSegments(segments: Segments, first: Long) extends Segments {
  override def get(number: Long): Array[Byte] = segments.get(first + number)
  override def put(number: Long, bytes: Array[Byte]): Unit = segments.put(first + number, bytes)
  override def remove(number: Long): Unit = segments.remove(first + number)
}
