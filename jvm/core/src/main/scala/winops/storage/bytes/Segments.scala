package winops.storage.bytes

/** Where a [[RowLog]] keeps the runs of rows that it does not hold itself. */
trait Segments {

  /** The bytes of a segment, or null when none was put or it was removed. */
  def get(number: Long): Array[Byte]
  def put(number: Long, bytes: Array[Byte]): Unit
  def remove(number: Long): Unit
}
