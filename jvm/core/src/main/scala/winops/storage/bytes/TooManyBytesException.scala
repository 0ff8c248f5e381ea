package winops.storage.bytes

/** Reports rows, or their stored form, that do not fit in one array.
  *
  * @param bytes
  *   number of bytes; an array has at most [[Bytes.MaxArray]]
  */
final class TooManyBytesException(val bytes: Long)
    extends RuntimeException(s"$bytes bytes do not fit in one array of ${Bytes.MaxArray}") {
  def most: Long = Bytes.MaxArray.toLong
}
