package winops.text.apama

import winops.terms.{Origin, RowExpression}
import winops.text.dialect.{Decimals, Intervals, Names, Origins}

/** The canonical text of a query. Parsing it gives an equal policy, unless it ends in an origin.
  */
private[apama] object ApamaPrinter {

  /** Formats a query with names quoted unless they are plain. The text has a `from` and a
    * `select` only if the query does not emit all changes. An origin other than the epoch is
    * appended in words that the parser does not read.
    */
  def text(query: Query, origin: Origin): String =
    written(query, partition(query.partition), origin)

  /** Formats the query without `partition by`. */
  def window(query: Query, origin: Origin): String = written(query, "", origin)

  private def written(query: Query, partition: String, origin: Origin): String = {
    val window = s"$partition${content(query.content)}${unique(query.unique)}"
    val shown = query.shown match {
      case Shown.Changes => window
      case Shown.Inserts => s"from item in rows $window select item"
      case Shown.Deletes => s"from item in rows $window select rstream item"
    }
    s"$shown${counting(query.content, origin)}"
  }

  private def content(content: Content): String = content match {
    case Content.All => "retain all"
    case Content.Retain(rows, every) => s"retain $rows${every.fold("")(m => s" every $m")}"
    case Content.Within(micros, every, retain) =>
      s"within ${seconds(micros)}${every.fold("")(p => s" every ${seconds(p)}")}" +
        retain.fold("")(n => s" retain $n")
  }

  private def seconds(micros: Long): String = Decimals.fractional(Intervals.seconds(micros))

  private def partition(keys: Seq[RowExpression.Column]): String =
    if (keys.isEmpty) "" else keys.map(column).mkString("partition by ", ", ", " ")

  private def unique(key: Option[RowExpression.Column]): String =
    key.fold("")(k => s" with unique ${column(k)}")

  private def column(key: RowExpression.Column): String =
    Names.quoted(key.name, QueryParser.Keywords)

  private def counting(content: Content, origin: Origin): String = content match {
    case Content.Within(_, Some(_), _) if origin != Origin.epoch => s" ${Origins.words(origin)}"
    case _ => ""
  }
}
