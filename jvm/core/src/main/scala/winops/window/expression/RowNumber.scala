package winops.window.expression

/** A numeric value of each row, which may be missing. */
trait RowNumber {

  /** Returns true if the value is null, NaN or, for a timestamp, infinite. */
  def isMissing(ordinal: Long): Boolean

  /** The value of an integral type. */
  def whole(ordinal: Long): Long

  /** The value as a floating-point number. */
  def real(ordinal: Long): Double
}
