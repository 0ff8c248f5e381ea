package winops.text.spl

import winops.policy.{Category, ColumnKind, Policy, Scope}
import winops.terms.Origin
import winops.text.dialect.{Dialect, NamedWindow, Names, Problem}

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
  * Keywords are in lower case, and no names are reserved. Names of attributes and parameters are
  * case-sensitive, and in double quotes or backticks unless they are plain. Sizes are constant
  * expressions, in which whole numbers divide toward zero. Times are in seconds.
  */
object Spl extends Dialect {
  override val name: String = "spl"
  override val product: String = "IBM Streams (SPL)"
  override val openings: Set[String] = Set("SLIDING", "TUMBLING", "WINDOW")

  override val windows: Seq[NamedWindow] = Seq(
    NamedWindow("tumbling, count", "tumbling, count(100)"),
    NamedWindow("tumbling, time", "tumbling, time(60)"),
    NamedWindow("tumbling, delta", "tumbling, delta(price, 0.5)"),
    NamedWindow("tumbling, punct", "tumbling, punct()"),
    NamedWindow("sliding, count", "sliding, count(100)"),
    NamedWindow("sliding, time", "sliding, time(60)"),
    NamedWindow("sliding, delta", "sliding, delta(price, 0.5)"),
    NamedWindow("trigger count", "sliding, time(60), count(10)"),
    NamedWindow("trigger time", "sliding, count(100), time(1.5)"),
    NamedWindow("trigger delta", "sliding, count(100), delta(price, 0.5)"),
    NamedWindow("partitioned", "sliding, count(100), partitioned; param partitionBy : symbol;"),
    NamedWindow(
      "partitionAge",
      "tumbling, count(100), partitioned, partitionAge(3600); param partitionBy : symbol;"),
    NamedWindow(
      "partitionCount",
      "tumbling, count(100), partitioned, partitionCount(50); param partitionBy : symbol;"),
    NamedWindow(
      "tupleCount",
      "tumbling, count(100), partitioned, tupleCount(5000); param partitionBy : symbol;"))

  override protected def read(text: String, scope: Scope): Either[Problem, Policy] =
    new WindowParser(text, scope).parse.map(_.policy(scope.origin.getOrElse(Origin.FirstRow)))

  override protected def example(category: Category, scope: Scope): String = {
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
