package winops.storage.bytes

/** A store of byte arrays by number, such as the sealed rows of a row log or the pages of a map.
  */
trait Segments {

  /** The bytes of a segment, or null if the segment does not exist. */
  def get(number: Long): Array[Byte]

  /** Stores the bytes of a segment, and replaces earlier ones. */
  def put(number: Long, bytes: Array[Byte]): Unit

  /** Removes a segment. */
  def remove(number: Long): Unit
}
