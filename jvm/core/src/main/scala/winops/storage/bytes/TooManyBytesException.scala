package winops.storage.bytes

/** Rows that stand in one array, or what is stored of them as one value, do not fit into it.
  *
  * @param bytes
  *   how many there are; an array has at most [[Bytes.MaxArray]]
  */
final class TooManyBytesException(val bytes: Long)
    extends RuntimeException(s"$bytes bytes do not fit in one array of ${Bytes.MaxArray}") {
  def most: Long = Bytes.MaxArray.toLong
}
