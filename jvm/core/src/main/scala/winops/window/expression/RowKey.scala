package winops.window.expression

/** Bytes that stand for a row. */
trait RowKey {
  def of(ordinal: Long): Array[Byte]
}
