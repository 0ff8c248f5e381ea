package winops.text.esper

import scala.math.BigDecimal.RoundingMode

import winops.policy.{Category, Reclaim}
import winops.text.dialect.{Decimals, Limits, Names, Problem, Token}

/** Grammar of the annotations before a statement. */
private[esper] trait HintParsers extends PeriodParsers {
  import HintParsers._

  protected def text: String

  /** The reclaim rule of the annotations. Esper: `reclaim_group_freq` defaults to
    * `reclaim_group_aged`, and has no effect alone. Names and descriptions are skipped. Any other
    * annotation or hint is `unsupported`.
    */
  protected def annotations: Parser[Option[Reclaim]] = rep(annotation) >> { all =>
    val hints = all.flatten
    val again = hints.indices.find(i => hints.take(i).exists(_.name == hints(i).name)).map(hints)
    val millis = hints.map(hint => hint.name -> hint.millis).toMap
    checked(
      again
        .map(twice)
        .toLeft(millis.get(Aged).map { aged =>
          Reclaim.SweptAtArrival(aged, millis.getOrElse(Frequency, aged))
        }))
  }

  private def annotation: Parser[Seq[Hint]] =
    symbol('@') ~> (keyword("HINT") ~> inParentheses >> inText |
      keyword("NAME", "DESCRIPTION") ~> inParentheses ^^^ Nil |
      other("Hint or Name; other annotations are not supported"))

  private def inParentheses: Parser[Token.Literal] =
    (symbol('(') | expected("( and a text in quotes")) ~>
      (accept("a text", { case token: Token.Literal => token }) | expected("a text in quotes")) <~
      (symbol(')') | expected(")"))

  /** The hints in a text. The offsets of their problems count from the beginning of the whole
    * text.
    */
  private def inText(literal: Token.Literal): Parser[Seq[Hint]] = {
    val tokens = EsperLexer.tokens(text, literal.offset + 1, literal.end - 1)
    checked(run(rep1sep(hint, symbol(',')) <~ (end | expected("a comma or the end")), tokens))
  }

  private def hint: Parser[Hint] = {
    val names = s"${Words.lower(Aged)} or ${Words.lower(Frequency)}"
    val name = keyword(Aged, Frequency) | other(s"$names; other hints are not supported")
    val seconds = (symbol('=') | expected("= and seconds")) ~> constant("a number of seconds")
    name ~ seconds >> { case word ~ expr =>
      checked(numbers.decimal(expr).flatMap { value =>
        val millis = (value * MillisPerSecond).setScale(0, RoundingMode.HALF_UP)
        Either.cond(
          value.signum >= 0 && millis <= MaxMillis,
          Hint(Names.upper(word.text), millis.toLong, word.offset),
          Problem(
            Category.Range,
            expr.offset,
            s"expected from 0 to ${MaxMillis / MillisPerSecond} seconds"))
      })
    }
  }

  /** Fails: another word is `unsupported`, any other token `syntax`. */
  private def other(what: String): Parser[Nothing] =
    guard(accept("a word", { case token: Token.Word => token })) ~>
      missing(Category.Unsupported, what) | expected(what)

  private def twice(hint: Hint): Problem = Problem(
    Category.Syntax,
    hint.offset,
    s"expected each hint at most once; ${Words.lower(hint.name)} is repeated")
}

private[esper] object HintParsers {
  private val Aged = "RECLAIM_GROUP_AGED"
  private val Frequency = "RECLAIM_GROUP_FREQ"
  private val MillisPerSecond = 1000L
  private val MaxMillis = Limits.MaxMicros / 1000L

  private final case class Hint(name: String, millis: Long, offset: Int)

  /** The canonical hint for a reclaim rule. */
  def text(reclaim: Reclaim.SweptAtArrival): String = {
    def seconds(millis: Long) = Decimals.plain(BigDecimal(millis) / MillisPerSecond)
    val aged = s"${Words.lower(Aged)}=${seconds(reclaim.millis)}"
    val frequency = s",${Words.lower(Frequency)}=${seconds(reclaim.everyMillis)}"
    s"@Hint('$aged${if (reclaim.everyMillis == reclaim.millis) "" else frequency}')"
  }
}
