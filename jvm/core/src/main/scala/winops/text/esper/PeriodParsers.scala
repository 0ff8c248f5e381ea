package winops.text.esper

import scala.math.BigDecimal.RoundingMode

import winops.policy.{Category, Scope}
import winops.terms.Span
import winops.text.dialect.{Expr, ExprParsers, Limits, Names, Problem, Token}

/** Grammar of Esper's constants: numbers, and time periods, which are seconds or sums of values
  * with units.
  *
  * Esper: a period is rounded half up to milliseconds. A repeated unit is `duplicate-unit`. A
  * value without a unit after a value with one is `unit`. A negative period is `range`, and so is
  * a period below a millisecond without units.
  */
private[esper] trait PeriodParsers extends ExprParsers {
  import PeriodParsers._

  protected def scope: Scope

  protected lazy val numbers = new Numbers(scope)

  /** Returns true for constants other than numbers and for units of time. A unit that is also the
    * name of a parameter is not reserved.
    */
  override protected def isReserved(word: Token.Word): Boolean =
    NoNumbers.contains(Names.upper(word.text)) ||
      PeriodUnit.named(word.text).isDefined && !scope.parameters.contains(word.text)

  override protected def products: String = "*/%"

  /** A constant expression. A text, a boolean and null are `type`.
    *
    * @param what
    *   what a message names as expected if no expression follows
    */
  protected def constant(what: String): Parser[Expr] = {
    val text = accept("a text", { case token: Token.Literal => token })
    guard(text | keyword(NoNumbers: _*)) ~> missing(Category.Type, what) | expr(what)
  }

  /** A period of at least one millisecond. */
  protected def period: Parser[Written[Span]] = period(least = 1L)

  /** A period that may be zero if it has units. */
  protected def periodOrZero: Parser[Written[Span]] = period(least = 0L)

  protected def unitWord: Parser[PeriodUnit] = accept(
    "a unit",
    Function.unlift[Token, PeriodUnit] {
      case word: Token.Word => PeriodUnit.named(word.text)
      case _ => None
    })

  /** The offset of the next token. */
  protected def place: Parser[Int] = guard(accept("a token", { case token => token.offset }))

  private def period(least: Long): Parser[Written[Span]] =
    constant("a period") >> { first =>
      opt(place ~ unitWord) >> {
        case Some(offset ~ unit) =>
          rep(part) >> (more => checked(sum(Amount(first, unit, offset) +: more, least)))
        case None => checked(sum(Seq(Amount(first, PeriodUnit.Second, first.offset)), least = 1L))
      }
    } ^^ (span => Written(span, Seq(text(span))))

  private def part: Parser[Amount] = {
    val parameter = name ^^ (Expr.Name(_))
    val unit = place ~ unitWord | missing(Category.Unit, s"a unit of time: $UnitNames")
    (number | parameter) ~ unit ^^ { case value ~ (offset ~ unit) => Amount(value, unit, offset) }
  }

  private def sum(parts: Seq[Amount], least: Long): Either[Problem, Span] = {
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

  private def twice(part: Amount): Problem = Problem(
    Category.DuplicateUnit,
    part.offset,
    s"expected each unit at most once; ${part.unit.many} is repeated")

  /** The length of a part. Each value is bounded before the sum. */
  private def lengthOf(part: Amount): Either[Problem, Length] =
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
      first: Amount,
      least: Long): Either[Problem, Span] = {
    val millis = (micros / MicrosPerMilli).setScale(0, RoundingMode.HALF_UP)
    val isTooShort = months.signum == 0 && millis < least
    val isTooLong = months > MaxMonths || millis > Limits.MaxMicros / MicrosPerMilli
    Either.cond(
      !isTooShort && !isTooLong,
      Span(months.toLong, millis.toLong * MicrosPerMilli),
      outOfBounds(first))
  }

  private def outOfBounds(part: Amount): Problem = Problem(
    Category.Range,
    part.value.offset,
    s"expected a period of at least 1 msec and at most $MaxMonths months and $MaxDays days")
}

private[esper] object PeriodParsers {
  private val MicrosPerMilli = 1000L
  private val MaxDays = Limits.MaxMicros / PeriodUnit.Day.micros

  /** The largest number of months that is never longer than [[MaxDays]] days. */
  private val MaxMonths = MaxDays / 31

  private val NoNumbers = Seq("NULL", "TRUE", "FALSE")

  private val UnitNames = PeriodUnit.all.map(_.many).mkString(", ")

  /** A value with its unit.
    *
    * @param offset
    *   place of the unit, or of the value for seconds without a unit
    */
  private final case class Amount(value: Expr, unit: PeriodUnit, offset: Int)

  private final case class Length(months: BigDecimal, micros: BigDecimal)

  /** The canonical spelling of a period: `1 min 30 sec`. Weeks are written as days. */
  def text(span: Span): String = {
    val years = PeriodUnit.Year.months
    val calendar =
      Seq(PeriodUnit.Year -> span.months / years, PeriodUnit.Month -> span.months % years)
    val exact = PeriodUnit.all.filter(unit => unit.micros > 0 && unit != PeriodUnit.Week)
    val left = exact.scanLeft(span.micros)(_ % _.micros)
    val counts = calendar ++ exact.zip(left).map { case (unit, micros) =>
      unit -> micros / unit.micros
    }
    val units = counts.collect { case (unit, count) if count > 0 => unit.text(count) }
    if (units.isEmpty) PeriodUnit.Second.text(0) else units.mkString(" ")
  }
}
