package winops.text.ccl

import java.math.MathContext

import winops.policy.{Category, Scope}
import winops.text.dialect.{Constants, Expr, ExprParsers, Intervals, Lexer, Limits, Names, Problem, Token}

/** Grammar of CCL's intervals, with values in microseconds. An interval is a sum of values with
  * units, or hours and minutes with a colon. Both forms can also be in quotes or in a parameter's
  * text.
  *
  * CCL: an interval is positive and a whole number of microseconds, else it is `range`. A
  * repeated unit is `duplicate-unit`. A value without a unit is `unit`.
  */
private[ccl] trait IntervalParsers extends ExprParsers {
  import IntervalParsers._

  protected def text: String
  protected def scope: Scope

  protected lazy val constants = new Constants(scope, mixed = true)

  /** Returns true for keywords and for units of time. A unit that is also the name of a parameter
    * is not reserved.
    */
  override protected def isReserved(word: Token.Word): Boolean = {
    val upper = Names.upper(word.text)
    Keywords.contains(upper) ||
    TimeUnit.named(upper).isDefined && !scope.parameters.contains(word.text)
  }

  /** The interval in quotes or in a parameter's text: values with units, `hours:minutes`, or days
    * and then `hours:minutes`.
    */
  protected def content: Parser[Long] = {
    val value = colons | expr("an interval") >> { first =>
      unit("a unit of time") >> { word =>
        (first, word.unit) match {
          case (_: Expr.Number, TimeUnit.Day) =>
            colonsAfter(Segment(first, word)) | rest(first, word)
          case _ => rest(first, word)
        }
      }
    }
    value <~ (end | expected("another value with its unit, or the end of the interval"))
  }

  /** An interval in quotes. The offsets of its problems count from the beginning of the whole
    * text.
    */
  protected def inQuotes: Parser[Long] =
    accept("an interval in quotes", { case quotes: Token.Literal => quotes }) >> { quotes =>
      checked(run(content, IntervalParsers.lexer.tokens(text, quotes.offset + 1, quotes.end - 1)))
    }

  /** The interval in a parameter's text. The place of all its problems is the parameter. */
  protected def inParameter(token: Token.Named, value: String): Parser[Long] = {
    checked(intervalOf(value).left.map { problem =>
      val place = s"at character ${problem.offset + 1} of parameter ${Names.shown(token.name)}"
      val message = s"${problem.message}, $place. A text is an interval such as '10 minutes'"
      problem.copy(offset = token.offset, message = message)
    })
  }

  /** The interval that a text without quotes spells. */
  protected def intervalOf(value: String): Either[Problem, Long] =
    new InParameter(value, scope).parse

  /** `hours:minutes` or `hours:minutes:seconds`, without days. */
  protected def colons: Parser[Long] = colonsToken >> { token =>
    checked(colonsValue(token).flatMap(Intervals.micros(_, token.offset)))
  }

  /** The further values with units after a first value, whose own unit has been read. */
  protected def rest(first: Expr, unitOfFirst: UnitWord): Parser[Long] = {
    val separator = symbol(',') ~> (number | expected("a number and a unit of time"))
    val more = (separator | number) ~ unit("a unit of time") ^^ { case value ~ word =>
      Segment(value, word)
    }
    rep(more) >> (others => checked(sum(Segment(first, unitOfFirst) +: others)))
  }

  /** A unit of time. A missing unit is `unit` if a word, a semicolon or the end follows, else
    * `syntax`.
    */
  protected def unit(what: String): Parser[UnitWord] = {
    val wanted = s"$what: $UnitNames"
    unitWord | guard(wordOrEnd) ~> missing(Category.Unit, wanted) | expected(wanted)
  }

  protected def unitWord: Parser[UnitWord] = accept(
    "a unit",
    Function.unlift[Token, UnitWord] {
      case word: Token.Word => TimeUnit.named(word.text).map(UnitWord(_, word.offset))
      case _ => None
    })

  private def wordOrEnd: Parser[Token] = accept(
    "a word",
    { case token @ (_: Token.Word | _: Token.End | Token.Symbol(';', _)) => token })

  private def colonsToken: Parser[Token.Colons] =
    accept("hours:minutes", { case token: Token.Colons => token })

  private def colonsAfter(days: Segment): Parser[Long] = colonsToken >> { token =>
    checked(for {
      before <- valueOf(days)
      after <- colonsValue(token)
      total <- Intervals.micros(Zero + before + after, days.value.offset)
    } yield total)
  }

  private def sum(segments: Seq[Segment]): Either[Problem, Long] = {
    val units = segments.map(_.word.unit)
    val again = segments.indices.find(i => units.indexOf(units(i)) < i).map(segments)
    for {
      _ <- again.map(twice).toLeft(())
      total <- segments.foldLeft[Either[Problem, BigDecimal]](Right(Zero)) { (sum, segment) =>
        for { s <- sum; v <- valueOf(segment) } yield s + v
      }
      interval <- Intervals.micros(total, segments.head.value.offset)
    } yield interval
  }

  private def twice(segment: Segment): Problem = Problem(
    Category.DuplicateUnit,
    segment.word.offset,
    s"expected each unit at most once; ${segment.word.unit.name} is repeated")

  /** The length of a segment in microseconds. Each value is bounded before the sum, so sums are
    * exact.
    */
  private def valueOf(segment: Segment): Either[Problem, BigDecimal] =
    constants.decimal(segment.value).flatMap { value =>
      Either.cond(
        value.signum >= 0 && value <= Limits.MaxMicros,
        value * segment.word.unit.micros,
        Intervals.outOfBounds(segment.value.offset))
    }

  private def colonsValue(token: Token.Colons): Either[Problem, BigDecimal] = token.text match {
    case Colons(hours, minutes, seconds, fraction) =>
      val minutesOffset = token.offset + hours.length + 1
      val secondsText = Option(seconds).getOrElse("0")
      for {
        _ <- below60(minutes, "minutes", minutesOffset)
        _ <- below60(secondsText, "seconds", minutesOffset + minutes.length + 1)
        _ <- Either.cond(
          hours.length <= Limits.MaxDigits && Option(fraction).forall(
            _.length <= Limits.MaxDigits),
          (),
          Intervals.outOfBounds(token.offset))
      } yield {
        val second = exact(s"$secondsText.${Option(fraction).getOrElse("0")}")
        exact(hours) * TimeUnit.Hour.micros + exact(minutes) * TimeUnit.Minute.micros +
          second * TimeUnit.Second.micros
      }
    case _ =>
      Left(
        Problem(
          Category.Syntax,
          token.offset,
          "expected hours:minutes or hours:minutes:seconds, minutes and seconds with two digits"))
  }

  private def below60(digits: String, what: String, offset: Int): Either[Problem, Unit] =
    Either.cond(
      digits.toInt < 60,
      (),
      Problem(Category.Range, offset, s"expected $what below 60"))
}

private[ccl] object IntervalParsers {

  /** The words of a clause that are never parameters. */
  private val Keywords: Set[String] =
    Set("KEEP", "ALL", "EVERY", "ROW", "ROWS", "SLACK", "PER", "INTERVAL")

  val UnitNames: String = TimeUnit.all.map(_.text(2).drop(2)).mkString(", ")

  /** Converts digits without rounding. With rounding, an interval finer than a microsecond could
    * pass for a whole number of microseconds.
    */
  private def exact(digits: String): BigDecimal = BigDecimal(digits, MathContext.UNLIMITED)

  private val Zero = exact("0")

  private val Colons = """([0-9]+):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]+))?)?""".r

  val lexer = new Lexer("()+-*/,;", colons = true)

  /** A unit and the place of its word. */
  final case class UnitWord(unit: TimeUnit, offset: Int)

  private final case class Segment(value: Expr, word: UnitWord)

  private final class InParameter(
      override protected val text: String,
      override protected val scope: Scope)
      extends IntervalParsers {
    def parse: Either[Problem, Long] =
      Limits.read(text).flatMap(t => run(content, lexer.tokens(t)))
  }
}
