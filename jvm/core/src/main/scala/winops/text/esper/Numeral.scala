package winops.text.esper

import winops.text.dialect.{Problem, Token, Value}

/** A number as it was written, its suffix apart: `l` makes it a long, `d` and `f` make it a
  * fraction.
  */
private[esper] final case class Numeral(digits: String, suffix: Option[Char], offset: Int) {
  def isLong: Boolean = suffix.contains('l')

  /** Whether it is an int or a long. */
  def isWhole: Boolean = suffix.forall(_ == 'l') && digits.forall(Character.isDigit)

  /** Whether it is whole and does not fit into an int. */
  def isLargerThanInt: Boolean = isWhole && BigInt(digits) > Int.MaxValue

  /** What it is worth; `range` if it has too many digits. */
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
