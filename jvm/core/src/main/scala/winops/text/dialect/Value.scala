package winops.text.dialect

import java.math.{BigDecimal => Decimal, MathContext}

import winops.policy.{Category, Parameter}

/** The value of a constant expression. */
sealed trait Value

object Value {

  /** A whole number. */
  final case class Whole(value: Long) extends Value

  /** A number with a fraction or an exponent in the text, or the quotient of an Esper division,
    * even if its value is whole.
    *
    * @param source
    *   place of the number, parameter or division operator that makes the value a fraction
    */
  final case class Fraction(value: BigDecimal, source: Int) extends Value

  /** The value of a number in the text. A whole number must fit into 64 bits, any other number
    * into the digits and powers of ten of [[Limits]], else it is `range`.
    */
  def of(number: Token.Number): Either[Problem, Value] =
    if (number.isWhole) whole(BigInt(number.text), number.offset)
    else {
      val (mantissa, exponent) = number.text.span(c => c != 'e' && c != 'E')
      // Checks the exponent before the number is built, because the exponent decides how large
      // the number becomes.
      val power = exponent.drop(1).dropWhile(c => !Character.isDigit(c)).dropWhile(_ == '0')
      if (power.length > 3) tooLong(number.offset)
      else {
        val exact = new Decimal(s"${withoutLastZeros(mantissa)}$exponent")
        fraction(exact, number.offset, number.offset)
      }
    }

  /** Removes trailing zeros of a fraction from the text, because removing them from a decimal
    * costs one division for each zero.
    */
  private def withoutLastZeros(mantissa: String): String =
    if (mantissa.contains('.'))
      s"0${mantissa.substring(0, mantissa.lastIndexWhere(_ != '0') + 1)}"
    else mantissa

  /** The value of the parameter that the text names at `offset`. A text is `type`. */
  def of(parameter: Parameter, offset: Int): Either[Problem, Value] = parameter match {
    case Parameter.Whole(value) => Right(Whole(value))
    case Parameter.Fraction(value) => fraction(value.bigDecimal, offset, offset)
    case Parameter.Text(_) =>
      Left(
        Problem(
          Category.Type,
          offset,
          "expected a number; this parameter is a text. Give a number, without quotes"))
  }

  def negated(value: Value, offset: Int): Either[Problem, Value] = value match {
    case Whole(v) => whole(-BigInt(v), offset)
    case Fraction(v, source) => Right(Fraction(-v, source))
  }

  /** The value of `left operator right`, exact except for the last digits of an endless quotient.
    * Two whole numbers give a whole number, so their quotient is rounded toward zero. The
    * remainder has the sign of `left`. A result that is too large is `range` at the operator.
    *
    * @param operand
    *   place of `right`; a division by zero, also by `%`, is `range` there
    */
  def applied(
      left: Value,
      operator: Token.Symbol,
      right: Value,
      operand: Int): Either[Problem, Value] =
    if ((operator.char == '/' || operator.char == '%') && isZero(right)) {
      Left(Problem(Category.Range, operand, "expected a divisor other than zero"))
    } else {
      (left, right) match {
        case (Whole(l), Whole(r)) =>
          whole(wholes(operator.char)(BigInt(l), BigInt(r)), operator.offset)
        case (Fraction(l, source), r) =>
          fraction(
            decimals(operator.char)(l.bigDecimal, decimal(r).bigDecimal),
            source,
            operator.offset)
        case (Whole(l), Fraction(r, source)) =>
          fraction(
            decimals(operator.char)(Decimal.valueOf(l), r.bigDecimal),
            source,
            operator.offset)
      }
    }

  def decimal(value: Value): BigDecimal = value match {
    case Whole(v) => BigDecimal(v)
    case Fraction(v, _) => v
  }

  private def isZero(value: Value): Boolean = decimal(value).signum == 0

  private def wholes(operator: Char): (BigInt, BigInt) => BigInt = operator match {
    case '+' => _ + _
    case '-' => _ - _
    case '*' => _ * _
    case '/' => _ / _
    case '%' => _ % _
  }

  private def decimals(operator: Char): (Decimal, Decimal) => Decimal = operator match {
    case '+' => _.add(_)
    case '-' => _.subtract(_)
    case '*' => _.multiply(_)
    case '/' => _.divide(_, MathContext.DECIMAL128)
    case '%' => _.remainder(_)
  }

  /** A whole number, or `range` if it does not fit into 64 bits. */
  def whole(exact: BigInt, offset: Int): Either[Problem, Whole] = Either.cond(
    exact.isValidLong,
    Whole(exact.toLong),
    Problem(Category.Range, offset, "expected a whole number of at most 64 bits"))

  private def fraction(exact: Decimal, source: Int, offset: Int): Either[Problem, Value] = {
    val power = exact.precision.toLong - exact.scale - 1
    if (math.abs(power) > Limits.MaxExponent) {
      if (exact.signum == 0) Right(Fraction(BigDecimal(0), source)) else tooLong(offset)
    } else {
      val shortest = exact.stripTrailingZeros
      if (shortest.precision > Limits.MaxDigits) tooLong(offset)
      else Right(Fraction(new BigDecimal(shortest, MathContext.UNLIMITED), source))
    }
  }

  private def tooLong(offset: Int): Either[Problem, Value] = Left(Problem(
    Category.Range,
    offset,
    s"expected a number of at most ${Limits.MaxDigits} digits, within 1e-${Limits.MaxExponent}" +
      s" and 1e${Limits.MaxExponent}"))
}
