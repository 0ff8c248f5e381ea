package winops.text.dialect

import java.math.{BigDecimal => Decimal, MathContext}

import winops.policy.{Category, Parameter}

/** What a constant expression is worth. */
sealed trait Value

object Value {
  final case class Whole(value: Long) extends Value

  /** A number that was written with a fraction or an exponent, even if it is whole.
    *
    * @param source
    *   the place of the number or parameter that made it one
    */
  final case class Fraction(value: BigDecimal, source: Int) extends Value

  /** The number as it is written in the text: a whole one must fit into 64 bits, another one into
    * the digits and powers of ten of [[Limits]], else `range`.
    */
  def of(number: Token.Number): Either[Problem, Value] =
    if (number.isWhole) whole(BigInt(number.text), number.offset)
    else {
      val (mantissa, exponent) = number.text.span(c => c != 'e' && c != 'E')
      // Before the number is made: the exponent alone decides how large it becomes.
      val power = exponent.drop(1).dropWhile(c => !Character.isDigit(c)).dropWhile(_ == '0')
      if (power.length > 3) tooLong(number.offset)
      else {
        val exact = new Decimal(s"${withoutLastZeros(mantissa)}$exponent")
        fraction(exact, number.offset, number.offset)
      }
    }

  /** Taking thousands of zeros from a decimal costs a division for each of them. */
  private def withoutLastZeros(mantissa: String): String =
    if (mantissa.contains('.'))
      s"0${mantissa.substring(0, mantissa.lastIndexWhere(_ != '0') + 1)}"
    else mantissa

  /** A parameter's value, for the parameter named at `offset`; a text is no number: `type`. */
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

  /** The value of `left operator right`, exact in all but the last digits of an endless quotient.
    * Two whole numbers give a whole one, so their quotient is cut toward zero.
    *
    * @param operand
    *   the place of `right`, which is to blame for a division by zero (`range`), also of `%`,
    *   which gives the remainder with the sign of `left`; the operator is to blame for a result
    *   that is too large (`range`)
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

  /** A whole number; `range` if it does not fit into 64 bits. */
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
