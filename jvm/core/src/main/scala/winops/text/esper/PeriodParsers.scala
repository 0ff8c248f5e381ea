package winops.text.esper

import scala.math.BigDecimal.RoundingMode

import winops.policy.{Category, Scope, Span}
import winops.text.dialect.{Expr, ExprParsers, Limits, Names, Problem, Token}

/** Esper's constants: numbers, and time periods, which are seconds or sums of values with units.
  *
  * Esper: a period is rounded to milliseconds, half up. Each unit is given once, else
  * `duplicate-unit`; a value without a unit after one with a unit is `unit`; a negative period is
  * `range`, and so is one of less than a millisecond that is not given by units.
  */
private[esper] trait PeriodParsers extends ExprParsers {
  import PeriodParsers._

  protected def scope: Scope

  protected lazy val numbers = new Numbers(scope)

  /** A unit is no keyword where a value is expected and a parameter has that name. */
  override protected def isReserved(word: Token.Word): Boolean =
    NoNumbers.contains(Names.upper(word.text)) ||
      PeriodUnit.named(word.text).isDefined && !scope.parameters.contains(word.text)

  override protected def products: String = "*/%"

  /** A constant expression, or `what` is expected; a text, a truth value and null are `type`. */
  protected def constant(what: String): Parser[Expr] = {
    val text = accept("a text", { case token: Token.Literal => token })
    guard(text | keyword(NoNumbers: _*)) ~> missing(Category.Type, what) | expr(what)
  }

  /** A period, above zero also where it is given by units. */
  protected def period: Parser[Written[Span]] = period(least = 1L)

  /** A period, which may be zero where it is given by units. */
  protected def periodOrZero: Parser[Written[Span]] = period(least = 0L)

  protected def unitWord: Parser[PeriodUnit] = accept(
    "a unit",
    Function.unlift[Token, PeriodUnit] {
      case word: Token.Word => PeriodUnit.named(word.text)
      case _ => None
    })

  /** Where the next token stands. */
  protected def place: Parser[Int] = guard(accept("a token", { case token => token.offset }))

  private def period(least: Long): Parser[Written[Span]] =
    constant("a period") >> { first =>
      opt(place ~ unitWord) >> {
        case Some(offset ~ unit) =>
          rep(part) >> (more => checked(sum(Part(first, unit, offset) +: more, least)))
        case None => checked(sum(Seq(Part(first, PeriodUnit.Second, first.offset)), least = 1L))
      }
    } ^^ (span => Written(span, Seq(text(span))))

  private def part: Parser[Part] = {
    val parameter = name ^^ (Expr.Name(_))
    val unit = place ~ unitWord | missing(Category.Unit, s"a unit of time: $UnitNames")
    (number | parameter) ~ unit ^^ { case value ~ (offset ~ unit) => Part(value, unit, offset) }
  }

  private def sum(parts: Seq[Part], least: Long): Either[Problem, Span] = {
    val units = parts.map(_.unit)
    val again = parts.indices.find(i => units.indexOf(units(i)) < i).map(parts)
    for {
      _ <- again.map(twice).toLeft(())
      lengths <- parts.foldLeft[Either[Problem, Seq[Length]]](Right(Nil)) { (done, part) =>
        for { before <- done; length <- lengthOf(part) } yield before :+ length
      }
      span <- span(lengths.map(_.months).sum, lengths.map(_.micros).sum, parts.head, least)
    } yield span
  }

  private def twice(part: Part): Problem = Problem(
    Category.DuplicateUnit,
    part.offset,
    s"expected each unit at most once; ${part.unit.many} is here again")

  /** The length of each part is bounded before they are added. */
  private def lengthOf(part: Part): Either[Problem, Length] =
    numbers.decimal(part.value).flatMap { value =>
      val months = value * part.unit.months
      if (value.signum < 0 || value > Limits.MaxMicros) Left(outOfBounds(part))
      else if (!months.isWhole) {
        Left(Problem(Category.Type, part.value.offset, "expected a whole number of months"))
      } else Right(Length(months, value * part.unit.micros))
    }

  private def span(
      months: BigDecimal,
      micros: BigDecimal,
      first: Part,
      least: Long): Either[Problem, Span] = {
    val millis = (micros / MicrosPerMilli).setScale(0, RoundingMode.HALF_UP)
    val isTooShort = months.signum == 0 && millis < least
    val isTooLong = months > MaxMonths || millis > Limits.MaxMicros / MicrosPerMilli
    Either.cond(
      !isTooShort && !isTooLong,
      Span(months.toLong, millis.toLong * MicrosPerMilli),
      outOfBounds(first))
  }

  private def outOfBounds(part: Part): Problem = Problem(
    Category.Range,
    part.value.offset,
    s"expected a period of at least 1 msec and at most $MaxMonths months and $MaxDays days")
}

private[esper] object PeriodParsers {
  private val MicrosPerMilli = 1000L
  private val MaxDays = Limits.MaxMicros / PeriodUnit.Day.micros

  /** So many months are never longer than the days. */
  private val MaxMonths = MaxDays / 31

  private val NoNumbers = Seq("NULL", "TRUE", "FALSE")

  private val UnitNames = PeriodUnit.all.map(_.many).mkString(", ")

  /** A value with its unit.
    *
    * @param offset
    *   the place of the unit, or of the value if seconds are meant without a word
    */
  private final case class Part(value: Expr, unit: PeriodUnit, offset: Int)

  private final case class Length(months: BigDecimal, micros: BigDecimal)

  /** A period in its one spelling: `1 min 30 sec`. Weeks are told as days. */
  def text(span: Span): String = {
    val years = PeriodUnit.Year.months
    val calendar =
      Seq(PeriodUnit.Year -> span.months / years, PeriodUnit.Month -> span.months % years)
    val exact = PeriodUnit.all.filter(unit => unit.micros > 0 && unit != PeriodUnit.Week)
    val left = exact.scanLeft(span.micros)(_ % _.micros)
    val counts = calendar ++ exact.zip(left).map { case (unit, micros) =>
      unit -> micros / unit.micros
    }
    val told = counts.collect { case (unit, count) if count > 0 => unit.text(count) }
    if (told.isEmpty) PeriodUnit.Second.text(0) else told.mkString(" ")
  }
}
