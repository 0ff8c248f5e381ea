package winops.text.esper

import winops.text.dialect.{Problem, Token, Value}

/** A number without its suffix.
  *
  * @param digits
  *   spelling without the suffix
  * @param suffix
  *   `l` for a long, `d` or `f` for a fraction, in lower case
  * @param offset
  *   index of the first character in the text
  */
private[esper] final case class Numeral(digits: String, suffix: Option[Char], offset: Int) {
  def isLong: Boolean = suffix.contains('l')

  /** Returns true for an int or a long. */
  def isWhole: Boolean = suffix.forall(_ == 'l') && digits.forall(Character.isDigit)

  /** Returns true for a whole number that does not fit into an int. */
  def isLargerThanInt: Boolean = isWhole && BigInt(digits) > Int.MaxValue

  /** The value of the number, or `range` if it has too many digits. */
  def value: Either[Problem, Value] = Value.of(Token.Number(digits, offset)).map {
    case Value.Whole(whole) if !isWhole => Value.Fraction(BigDecimal(whole), offset)
    case value => value
  }
}

private[esper] object Numeral {
  def of(token: Token.Number): Numeral = {
    val suffix = Some(token.text.last.toLower).filter("ldf".contains(_))
    Numeral(token.text.dropRight(suffix.size), suffix, token.offset)
  }
}
