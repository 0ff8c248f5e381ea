package winops.text.apama

import winops.policy.{Category, Policy, Scope}
import winops.terms.Origin
import winops.text.dialect.{Dialect, NamedWindow, Names, Problem}

/** Apama, the windows of its stream queries.
  *
  * {{{
  * within 10.0 [every 1.0] [retain 100] [with unique symbol]
  * retain 100 [every 10] [with unique symbol]
  * retain all
  * partition by symbol, venue retain 100
  * from trade in trades partition by trade.symbol retain 100 select rstream trade
  * }}}
  *
  * Keywords are in lower case. Names of columns and parameters are case-sensitive, and in double
  * quotes or backticks if they are keywords or not plain. Lengths of time are seconds with a
  * fraction, numbers of rows are whole. Both are constant expressions, which do not mix the two
  * kinds of numbers.
  */
object Apama extends Dialect {
  override val name: String = "apama"
  override val product: String = "Apama"
  override val openings: Set[String] = Set("FROM", "PARTITION", "RETAIN", "WITHIN")

  override val windows: Seq[NamedWindow] = Seq(
    NamedWindow("within", "partition by symbol within 10.0"),
    NamedWindow("within … every", "partition by symbol within 10.0 every 1.0"),
    NamedWindow("retain", "partition by symbol retain 100"),
    NamedWindow("retain … every", "partition by symbol retain 100 every 10"),
    NamedWindow("within … retain", "partition by symbol within 10.0 retain 100"),
    NamedWindow("within … every … retain", "within 10.0 every 1.0 retain 100"),
    NamedWindow("with unique", "within 10.0 with unique symbol"),
    NamedWindow("retain all", "retain all"),
    NamedWindow("rstream", "from t in trades retain 100 select rstream t"))

  override protected def read(text: String, scope: Scope): Either[Problem, Policy] =
    new QueryParser(text, scope).parse.map(_.policy(scope.origin.getOrElse(Origin.epoch)))

  override protected def example(category: Category, scope: Scope): String = {
    val partition = scope.columns.headOption.map { column =>
      s"partition by ${Names.quoted(column, QueryParser.Keywords)} "
    }
    category match {
      case Category.Unbounded => "retain all"
      case Category.Type => "within 10.0 retain 100"
      case Category.Syntax => "within 10.0 every 1.0 retain 100"
      case Category.UnknownColumn | Category.DuplicateColumn =>
        s"${partition.getOrElse("")}retain 100"
      case Category.Unsupported => "from item in rows retain 100 select item"
      case _ => "within 10.0"
    }
  }
}
