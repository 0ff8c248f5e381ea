package winops.spl

import winops.dialect.{Limits, Names}
import winops.policy.{Category, ColumnKind, Dialect, Origin, Policy, PolicyError, Scope}

/** SPL, the window clause of IBM Streams.
  *
  * {{{
  * tumbling, count(100)
  * tumbling, time(60), partitioned, partitionAge(3600); param partitionBy : symbol, venue;
  * tumbling, delta(price, 0.5)
  * tumbling, punct()
  * sliding, count(100), count(10)
  * window Trades : sliding, time(60), time(1.5);
  * }}}
  *
  * Keywords are in lower case and no names are reserved; the names of attributes and parameters
  * are as they are, in double quotes or backticks where they are not plain. Sizes are constant
  * expressions, in which whole numbers divide toward zero; times are in seconds.
  */
object Spl extends Dialect {
  override val name: String = "spl"

  override def parse(text: String, scope: Scope): Either[PolicyError, Policy] = {
    val clause = Limits.read(text).flatMap(new WindowParser(_, scope).parse)
    clause
      .map(_.policy(scope.origin.getOrElse(Origin.FirstRow)))
      .left
      .map(problem => problem.in(text, example(problem.category, scope)))
  }

  /** A clause that is valid in the scope and shows what the mistake was about. */
  private def example(category: Category, scope: Scope): String = {
    val number = scope.columns.find { column =>
      scope.kinds.get(column).exists(kind => kind != ColumnKind.Other)
    }
    val partitioned = scope.columns.headOption.map { column =>
      s"tumbling, count(100), partitioned; param partitionBy : ${Names.quoted(column)};"
    }
    val example = category match {
      case Category.PartitionKey | Category.DuplicateColumn | Category.UnknownColumn =>
        partitioned
      case Category.Type =>
        number.map(column => s"sliding, delta(${Names.quoted(column)}, 10)")
      case Category.Policy => Some("sliding, time(60), count(10)")
      case _ => None
    }
    example.getOrElse("sliding, count(100), count(10)")
  }
}
