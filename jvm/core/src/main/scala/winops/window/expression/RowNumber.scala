package winops.window.expression

/** A number that a row has or has not. */
trait RowNumber {

  /** Whether the row has none: null, or not a number. */
  def isMissing(ordinal: Long): Boolean

  /** The number, of a kind that is whole. */
  def whole(ordinal: Long): Long

  /** The number, as a floating-point one. */
  def real(ordinal: Long): Double
}
