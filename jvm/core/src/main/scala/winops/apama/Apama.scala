package winops.apama

import winops.dialect.{Limits, Names}
import winops.policy.{Category, Dialect, Origin, Policy, PolicyError, Scope}

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
  * Keywords are in lower case. The names of columns and parameters are as they are, in double
  * quotes or backticks where they are keywords or not plain. Lengths of time are seconds with a
  * fraction, numbers of rows are whole; both are constant expressions, which do not mix the two.
  */
object Apama extends Dialect {
  override val name: String = "apama"

  override def parse(text: String, scope: Scope): Either[PolicyError, Policy] = {
    val query = Limits.read(text).flatMap(new QueryParser(_, scope).parse)
    query
      .map(_.policy(scope.origin.getOrElse(Origin.epoch)))
      .left
      .map(problem => problem.in(text, example(problem.category, scope)))
  }

  /** A query that is valid in the scope and shows what the mistake was about. */
  private def example(category: Category, scope: Scope): String = {
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
