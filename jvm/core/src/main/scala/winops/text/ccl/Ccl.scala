package winops.text.ccl

import winops.policy.{Category, Policy, Scope}
import winops.terms.Origin
import winops.text.dialect.{Dialect, NamedWindow, Names, Problem}

/** CCL, the KEEP clause of SAP's and Sybase's event processors.
  *
  * {{{
  * KEEP ALL
  * KEEP 100 ROWS [SLACK 10] [PER (symbol, venue)]
  * KEEP EVERY 100 ROWS [PER (symbol)]
  * KEEP [EVERY] 1 MINUTE 30 SECONDS [PER (symbol)]
  * }}}
  *
  * Keywords and units are case-insensitive. Names of columns and parameters are case-sensitive,
  * and in double quotes or backticks unless they are plain. Numbers of rows and the first value
  * of an interval are constant expressions, in which whole numbers divide toward zero.
  */
object Ccl extends Dialect {
  override val name: String = "ccl"
  override val product: String = "SAP and Sybase ESP (CCL)"
  override val openings: Set[String] = Set("KEEP")

  override val windows: Seq[NamedWindow] = Seq(
    NamedWindow("KEEP ALL", "KEEP ALL"),
    NamedWindow("KEEP n ROWS", "KEEP 100 ROWS PER (symbol)"),
    NamedWindow("SLACK", "KEEP 100 ROWS SLACK 10 PER (symbol)"),
    NamedWindow("KEEP EVERY n ROWS", "KEEP EVERY 100 ROWS PER (symbol)"),
    NamedWindow("KEEP interval", "KEEP 1 MINUTE 30 SECONDS PER (symbol)"),
    NamedWindow("KEEP EVERY interval", "KEEP EVERY 1 HOUR PER (symbol)"))

  override protected def read(text: String, scope: Scope): Either[Problem, Policy] =
    new KeepParser(text, scope).parse.map(_.policy(scope.origin.getOrElse(Origin.epoch)))

  override protected def example(category: Category, scope: Scope): String = {
    val per = scope.columns.headOption.map(column => s" PER (${Names.quoted(column)})")
    category match {
      case Category.Unit | Category.DuplicateUnit | Category.SlackWithTime =>
        "KEEP 1 MINUTE 30 SECONDS"
      case Category.SlackWithEvery => "KEEP EVERY 100 ROWS"
      case Category.Syntax => s"KEEP 100 ROWS SLACK 10${per.getOrElse("")}"
      case Category.UnknownColumn | Category.DuplicateColumn =>
        s"KEEP 100 ROWS${per.getOrElse("")}"
      case _ => "KEEP 100 ROWS"
    }
  }
}
