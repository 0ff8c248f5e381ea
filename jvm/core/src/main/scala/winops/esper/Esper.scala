package winops.esper

import winops.dialect.Limits
import winops.policy.{Category, Dialect, Policy, PolicyError, Scope}

/** Esper's data windows.
  *
  * {{{
  * #time(10 min)#unique(device)
  * #groupwin(symbol)#length(100)#time(1 hour) retain-union
  * select rstream * from trades(price > 0)#rank(symbol, 10, price desc)
  * }}}
  *
  * Older spellings of windows (`win:length(3)`, `.std:unique(symbol)`) mean the same. Of a whole
  * statement, its selector, filter, windows and reclaim hints are the policy; what Esper has
  * besides them is refused. Keywords and units are in any case, windows, columns and parameters
  * as they are, in backticks where they are not plain.
  */
object Esper extends Dialect {
  override val name: String = "esper"

  override def parse(text: String, scope: Scope): Either[PolicyError, Policy] = {
    val policy = for {
      text <- Limits.read(text)
      statement <- new StatementParser(text, scope).parse
      policy <- Chain.policy(statement, scope)
    } yield policy
    policy.left.map(problem => problem.in(text, example(problem.category, scope)))
  }

  /** A policy that is valid in the scope and shows what the mistake was about. */
  private def example(category: Category, scope: Scope): String = {
    val unique = scope.columns.headOption.map(column => s"#unique(${Words.quoted(column)})")
    category match {
      case Category.Syntax => s"#time(10 min)${unique.getOrElse("")}"
      case Category.UnknownColumn => unique.getOrElse("#length(100)")
      case Category.Unit | Category.DuplicateUnit => "#time(1 min 30 sec)"
      case Category.Policy => "#length(100)#time(10 min)"
      case _ => "#length(100)"
    }
  }
}
