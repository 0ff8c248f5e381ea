package winops.text.esper

import scala.util.matching.Regex

import winops.policy.{Category, Parameter}
import winops.text.dialect.{Problem, Token, Value}

/** Formats values as constants of Esper and of Spark SQL. */
private[esper] object Literals {

  /** A number. Esper: numbers with a fraction are doubles, or floats with the suffix `f`. A whole
    * number of more than 64 bits, and a fraction that its type cannot hold, are `range`.
    */
  def number(token: Token.Number, isNegative: Boolean): Either[Problem, Phrase] = {
    val numeral = Numeral.of(token)
    val sign = if (isNegative) "-" else ""
    if (numeral.isWhole) {
      val exact = BigInt(s"$sign${numeral.digits}")
      val suffix = if (numeral.isLong) "L" else ""
      Either.cond(
        exact.isValidLong,
        signed(s"$exact$suffix", s"$exact$suffix", BigDecimal(exact)),
        Problem(Category.Range, token.offset, "expected a whole number of at most 64 bits"))
    } else {
      numeral.value.flatMap { value =>
        val magnitude = Value.decimal(value).toDouble
        val double = if (isNegative) -magnitude else magnitude
        if (numeral.suffix.contains('f')) float(double.toFloat, token.offset)
        else Right(fraction(double))
      }
    }
  }

  /** The value of the parameter that the text names at `offset`. */
  def parameter(parameter: Parameter, offset: Int): Either[Problem, Phrase] = parameter match {
    case Parameter.Whole(value) =>
      Right(signed(value.toString, value.toString, BigDecimal(value)))
    case Parameter.Fraction(value) =>
      Value.of(parameter, offset).map(_ => fraction(value.toDouble))
    case Parameter.Text(value) => Right(string(value))
  }

  /** A string in single quotes. Both languages have the same escapes. The `$` is escaped because
    * Spark substitutes variables before it reads quotes.
    */
  def string(value: String): Phrase = Phrase.constant(
    value
      .map {
        case c @ ('\'' | '\\') => s"\\$c"
        case c if c.isControl || c == '$' => f"\\u${c.toInt}%04x"
        case c => c.toString
      }
      .mkString("'", "", "'"))

  /** The value of a text in quotes. An unknown character after a backslash is `syntax`. */
  def unescaped(text: String, literal: Token.Literal): Either[Problem, String] = {
    val inside = text.substring(literal.offset + 1, literal.end - 1)
    val unknown = Escape.findAllMatchIn(inside).find(escape => meaning(escape).isEmpty)
    unknown match {
      case Some(escape) =>
        Left(Problem(
          Category.Syntax,
          literal.offset + 1 + escape.start,
          "expected after a backslash a quote, a backslash, b, f, n, r, t, or u and four digits"))
      case None =>
        Right(Escape.replaceAllIn(inside, meaning(_).fold("")(Regex.quoteReplacement)))
    }
  }

  private val Escape = """(?s)\\(?:u([0-9a-fA-F]{4})|(.))""".r

  private val Meanings =
    Map("b" -> "\b", "f" -> "\f", "n" -> "\n", "r" -> "\r", "t" -> "\t") ++
      Seq("'", "\"", "\\").map(c => c -> c)

  private def meaning(escape: Regex.Match): Option[String] = Option(escape.group(1)) match {
    case Some(digits) => Some(Integer.parseInt(digits, 16).toChar.toString)
    case None => Meanings.get(escape.group(2))
  }

  private def fraction(double: Double): Phrase =
    signed(double.toString, s"${double}D", BigDecimal(double))

  private def float(float: Float, offset: Int): Either[Problem, Phrase] = Either.cond(
    !float.isInfinite,
    signed(s"${float}f", s"${float}F", BigDecimal(float.toDouble)),
    Problem(Category.Range, offset, "expected a number that is not too large for a float"))

  private def signed(text: String, sql: String, number: BigDecimal): Phrase =
    Phrase(
      text,
      sql,
      text,
      if (text.startsWith("-")) Rank.Minus else Rank.Atom,
      isConstant = true,
      number = Some(number))
}
