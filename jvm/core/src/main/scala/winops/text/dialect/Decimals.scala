package winops.text.dialect

/** How decimal numbers are spelled. */
object Decimals {

  /** With as many digits as it needs: `10`, `0.5`. */
  def plain(value: BigDecimal): String = value.bigDecimal.stripTrailingZeros.toPlainString

  /** As a number that has a fraction, even if that is zero: `10.0`, `0.5`. */
  def fractional(value: BigDecimal): String = {
    val shortest = value.bigDecimal.stripTrailingZeros
    shortest.setScale(math.max(shortest.scale, 1)).toPlainString
  }
}
