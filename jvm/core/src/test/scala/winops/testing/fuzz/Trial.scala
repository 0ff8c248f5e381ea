package winops.testing.fuzz

import winops.policy._
import winops.text.dialect.Dialect

/** The outcome of a text. Texts that the reader handles alike have the same `kind`. */
sealed trait Outcome {
  def kind: String
}

object Outcome {
  final case class Accepted(kind: String) extends Outcome
  final case class Refused(kind: String) extends Outcome

  /** Any outcome other than a policy or a refusal at an offset in the text. */
  final case class Crashed(kind: String) extends Outcome
}

/** Reads texts in a dialect as a query does, over rows with columns of all kinds. */
final class Trial(dialect: Dialect) {
  import Trial._

  private var goodExamples = Set.empty[Category]

  def apply(text: String): Outcome =
    try {
      dialect.parse(text, scope) match {
        case Right(policy) => accepted(policy)
        case Left(error) => refused(text, error)
      }
    } catch {
      case error: Throwable =>
        val place = error.getStackTrace.headOption.fold("")(_.toString)
        Outcome.Crashed(s"${error.getClass.getName} $place")
    }

  /** Checks the texts that a query derives from a policy before it runs. */
  private def accepted(policy: Policy): Outcome = {
    val said = Seq(policy.text, policy.describe, policy.splitByKey.text)
    if (said.exists(_.length > MaxSaid)) Outcome.Crashed("a policy's own words are too many")
    else Outcome.Accepted(Numbers.replaceAllIn(policy.text.take(MaxKind), "0"))
  }

  private def refused(text: String, error: PolicyError): Outcome = {
    val place = error.offset
    val broken = Seq(
      "a place outside the text" -> (place < 0 || place > text.length),
      "another text" -> (error.text != text),
      "a message of no or many words" -> (error.message.isEmpty || error.message.length > 500),
      "a caret that does not fit on a screen" -> (error.caret.length > 300),
      "a line or a column before the first" -> (error.line < 1 || error.column < 1),
      "an example that is not valid" -> !isGood(error))
    broken
      .collectFirst { case (what, true) => Outcome.Crashed(s"refused with $what") }
      .getOrElse {
        val expected = error.message.takeWhile(c => c != ';' && c != ':').take(MaxKind)
        val kind = Numbers.replaceAllIn(Strangers.replaceAllIn(expected, "$1 x"), "0")
        Outcome.Refused(s"${error.category.name}: $kind")
      }
  }

  private def isGood(error: PolicyError): Boolean = goodExamples(error.category) || {
    val isValid = dialect.parse(error.example, scope).isRight
    if (isValid) goodExamples += error.category
    isValid
  }
}

object Trial {
  private val MaxKind = 80

  /** A derived text is at most a few times as long as the source text. */
  private val MaxSaid = 200000

  private val Numbers = "[0-9]+".r

  /** Messages with a part of the text, which the kind leaves out. */
  private val Strangers = "(unexpected character|expected no|before the dot, not) .*".r

  private val wholes = Seq("id", "volume", "k", "trade id", "a`b", "count")
  private val reals = Seq("price", "x", "y", "gr\u00f6\u00dfe")
  private val others = Seq("symbol", "venue", "account", "select", "'; drop table t; --")

  val scope: Scope = Scope(
    Map(
      "n" -> Parameter.Whole(3),
      "hours" -> Parameter.Whole(2),
      "F" -> Parameter.Fraction(BigDecimal("1.5")),
      "W" -> Parameter.Text("10 minutes"),
      "T" -> Parameter.Text("x' or '1' = '1")),
    wholes ++ reals ++ others :+ "ts",
    kinds = Map("ts" -> (ColumnKind.Timestamp: ColumnKind)) ++
      wholes.map(_ -> ColumnKind.WholeNumber) ++
      reals.map(_ -> ColumnKind.RealNumber) ++
      others.map(_ -> ColumnKind.Other),
    isGrouped = true)
}
