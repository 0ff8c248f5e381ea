package winops.window.expression

/** A key of each row, as bytes. */
trait RowKey {
  def of(ordinal: Long): Array[Byte]
}
