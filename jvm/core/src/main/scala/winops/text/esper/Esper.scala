package winops.text.esper

import winops.policy.{Category, Policy, Scope}
import winops.text.dialect.{Dialect, NamedWindow, Problem}

/** Esper's data windows.
  *
  * {{{
  * #time(10 min)#unique(device)
  * #groupwin(symbol)#length(100)#time(1 hour) retain-union
  * select rstream * from trades(price > 0)#rank(symbol, 10, price desc)
  * }}}
  *
  * Older spellings of windows (`win:length(3)`, `.std:unique(symbol)`) mean the same. The policy
  * of a whole statement consists of its selector, filter, windows, reclaim hints, and a list of
  * aggregates with its keys. Any other clause of Esper is refused. Keywords and units are
  * case-insensitive. Windows, columns and parameters are case-sensitive, and names that are not
  * plain are in backticks.
  */
object Esper extends Dialect {
  override val name: String = "esper"
  override val product: String = "Esper"
  override val openings: Set[String] = Set("#", "@", "SELECT")

  override val windows: Seq[NamedWindow] = Seq(
    NamedWindow("length", "#length(100)"),
    NamedWindow("lastevent", "#lastevent"),
    NamedWindow("keepall", "#keepall"),
    NamedWindow("time", "#time(10 min)"),
    NamedWindow("time_accum", "#time_accum(10 sec)"),
    NamedWindow("ext_timed", "#ext_timed(ts, 10 min)"),
    NamedWindow("expr", "#expr(newest_event.price - oldest_event.price < 5)"),
    NamedWindow("firstlength", "#firstlength(10)"),
    NamedWindow("firstevent", "#firstevent"),
    NamedWindow("firsttime", "#firsttime(1 hour)"),
    NamedWindow("firstunique", "#firstunique(symbol)"),
    NamedWindow("unique", "#unique(symbol)"),
    NamedWindow("sort", "#sort(10, price desc)"),
    NamedWindow("rank", "#rank(symbol, 10, price desc)"),
    NamedWindow("time_order", "#time_order(ts, 10 sec)"),
    NamedWindow("timetolive", "#timetolive(ts)"),
    NamedWindow("length_batch", "#length_batch(100)"),
    NamedWindow("time_batch", "#time_batch(10 sec, 0L, 'FORCE_UPDATE')"),
    NamedWindow("ext_timed_batch", "#ext_timed_batch(ts, 10 sec)"),
    NamedWindow("time_length_batch", "#time_length_batch(10 sec, 100)"),
    NamedWindow("expr_batch", "#expr_batch(newest_event.price > 100, false)"),
    NamedWindow("size", "#time(10 min)#size"),
    NamedWindow("uni", "#length(100)#uni(price, symbol)"),
    NamedWindow("linest", "#length(100)#linest(cast(ts, long), price)"),
    NamedWindow("correl", "#length(100)#correl(cast(ts, long), price)"),
    NamedWindow("weighted_avg", "#length(100)#weighted_avg(price, cast(ts, long))"),
    NamedWindow("groupwin", "#groupwin(symbol)#length(100)"),
    NamedWindow("merge", "#groupwin(symbol)#length(100)#merge(symbol)#size"),
    NamedWindow("intersection", "#time(10 min)#unique(symbol)"),
    NamedWindow("union", "#length(100)#time(10 min) retain-union"),
    NamedWindow("rstream", "select rstream * from Trade#length(100)"),
    NamedWindow(
      "aggregates",
      "select symbol, avg(price) as mean from Trade#length(100) group by symbol"))

  override protected def read(text: String, scope: Scope): Either[Problem, Policy] =
    new StatementParser(text, scope).parse.flatMap(Chain.policy(_, scope))

  override protected def example(category: Category, scope: Scope): String = {
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
