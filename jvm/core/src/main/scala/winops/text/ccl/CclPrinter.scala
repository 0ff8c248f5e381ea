package winops.text.ccl

import winops.terms.{Origin, RowExpression}
import winops.text.dialect.{Names, Origins}

/** The canonical text of a clause. Parsing it gives an equal policy, unless it ends in an origin.
  */
private[ccl] object CclPrinter {

  /** Formats a clause with keywords in upper case, without defaults, and with names quoted unless
    * they are plain. CCL has no word for the origin of an interval, so an origin other than the
    * epoch is appended in words that the parser does not read.
    */
  def text(keep: KeepClause, origin: Origin): String =
    s"KEEP ${what(keep)}${columns(keep.per)}${counting(keep, origin)}"

  /** Formats the clause without PER. */
  def window(keep: KeepClause, origin: Origin): String =
    s"KEEP ${what(keep)}${counting(keep, origin)}"

  private def what(keep: KeepClause): String = keep match {
    case KeepClause.All => "ALL"
    case KeepClause.Rows(n, 1, _) => rows(n)
    case KeepClause.Rows(n, slack, _) => s"${rows(n)} SLACK $slack"
    case KeepClause.EveryRows(n, _) => s"EVERY ${rows(n)}"
    case KeepClause.Interval(micros, _) => interval(micros)
    case KeepClause.EveryInterval(micros, _) => s"EVERY ${interval(micros)}"
  }

  private def rows(count: Long): String = if (count == 1) "1 ROW" else s"$count ROWS"

  private def interval(micros: Long): String = {
    val lengths = TimeUnit.all.scanLeft(micros)(_ % _.micros)
    TimeUnit.all
      .zip(lengths)
      .collect { case (unit, left) if left >= unit.micros => unit.text(left / unit.micros) }
      .mkString(" ")
  }

  private def columns(per: Seq[RowExpression.Column]): String =
    if (per.isEmpty) ""
    else per.map(column => Names.quoted(column.name)).mkString(" PER (", ", ", ")")

  private def counting(keep: KeepClause, origin: Origin): String = keep match {
    case _: KeepClause.EveryInterval if origin != Origin.epoch =>
      s" ${Names.upper(Origins.words(origin))}"
    case _ => ""
  }
}
