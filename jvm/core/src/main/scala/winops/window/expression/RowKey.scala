package winops.window.expression

/** A key of each row, as bytes. */
trait RowKey {

  /** The key, in an array that the caller may keep. */
  def of(ordinal: Long): Array[Byte]
}
