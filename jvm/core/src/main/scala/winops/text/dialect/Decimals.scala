package winops.text.dialect

/** Formats decimal numbers. */
object Decimals {

  /** Formats a number with as many digits as it needs: `10`, `0.5`. */
  def plain(value: BigDecimal): String = value.bigDecimal.stripTrailingZeros.toPlainString

  /** Formats a number with at least one digit after the point: `10.0`, `0.5`. */
  def fractional(value: BigDecimal): String = {
    val shortest = value.bigDecimal.stripTrailingZeros
    shortest.setScale(math.max(shortest.scale, 1)).toPlainString
  }
}
